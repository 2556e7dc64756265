// Uses the first figure and the first table of a report as a reader would, and writes down what it finds. Runs at the
// end of the page, after the page's own script; the test reads the element that it leaves behind.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);
  const figure = one(".live");
  const plot = () => one(".plot > svg", figure);
  const count = (selector) => all(selector, plot()).length;
  const numbers = () => all("text", plot()).map((text) => text.textContent);
  const caption = () => one(".legend thead th", figure).textContent;
  const box = (name) => one(`input[name=${name}]`, figure);
  const row = (i) => all(".legend tbody tr", figure)[i];
  const value = (i) => row(i).cells[1].textContent;

  // A pointer at a share of the frame's width and height.
  function pointer(type, x, y) {
    const frame = plot().getBoundingClientRect();
    const [left, right, top, bottom] = [56, 22, 10, 42];
    const clientX = frame.left + left + x * (frame.width - left - right);
    const clientY = frame.top + top + y * (frame.height - top - bottom);
    plot().dispatchEvent(new PointerEvent(type, { clientX, clientY, button: 0, pointerType: "mouse", bubbles: true }));
  }
  const key = (name, more = {}) => plot().dispatchEvent(new KeyboardEvent("keydown", { key: name, ...more }));

  const found = { figures: all(".live").length, curves: count(".curve"), bands: count(".band") };
  found.trials = count(".trial");
  found.caption = caption();
  found.values = all(".legend tbody tr", figure).map((row) => row.cells[1].textContent);

  one("button", row(1)).click();
  found.hidden = { curves: count(".curve"), bands: count(".band"), pressed: one("button", row(1)).ariaPressed };
  one("button", row(1)).click();
  found.shown = { curves: count(".curve"), bands: count(".band"), pressed: one("button", row(1)).ariaPressed };

  box("bands").click();
  found.withoutBands = count(".band");
  box("bands").click();

  pointer("pointermove", 0.5, 0.5);
  found.pointed = { caption: caption(), value: value(1), dots: count(".dot") };
  pointer("pointerleave", 0.5, 0.5);
  found.left = caption();

  box("trials").click();
  pointer("pointermove", 0.5, 0.9);
  found.everyTrial = { drawn: count(".trial"), note: one(".live > p:last-child", document).textContent };
  box("trials").click();

  const linear = numbers();
  box("logX").click();
  box("logY").click();
  found.logarithmic = { changed: numbers().join() !== linear.join(), labels: numbers() };
  found.broken = /NaN|Infinity/.test(plot().outerHTML);
  box("logX").click();
  box("logY").click();

  pointer("pointerdown", 0.25, 0.2);
  pointer("pointermove", 0.5, 0.6);
  pointer("pointerup", 0.5, 0.6);
  found.zoomed = numbers();
  plot().dispatchEvent(new MouseEvent("dblclick"));
  found.zoomedOut = numbers().join() === linear.join();

  pointer("pointerleave", 0.5, 0.6);
  const select = one("select", figure);
  select.value = "median";
  select.dispatchEvent(new Event("change"));
  found.median = value(1);

  plot().focus();
  key("Home");
  found.home = caption();
  key("ArrowRight");
  found.next = caption();
  found.spoken = one("[role=status]", figure).textContent;
  key("End");
  key("+");
  found.keyZoom = numbers().join() !== linear.join();
  key("0");
  plot().blur();

  const table = all("table:not(.legend)")[0];
  const first = () => all("tbody tr", table).map((row) => row.cells[0].textContent);
  const mean = one("thead th:nth-child(2) button", table);
  found.order = [first()];
  mean.click();
  found.order.push(first());
  mean.click();
  found.order.push(first());
  found.sorted = mean.parentElement.ariaSort;

  found.asked = performance.getEntriesByType("resource").length;
  found.colour = getComputedStyle(one(".curve.c0")).stroke;
  found.picture = getComputedStyle(one("figure > svg[role=img]")).filter;
  const pre = document.createElement("pre");
  pre.id = "found";
  pre.textContent = JSON.stringify(found);
  document.body.append(pre);
})();
