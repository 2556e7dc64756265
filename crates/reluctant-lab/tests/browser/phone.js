// Opens every page that is named on a screen as narrow as a phone's, and writes down what went wrong and how wide each
// page is.
(() => {
  const pre = document.createElement("pre");
  pre.id = "found";
  const found = {};
  let waiting = PAGES.length;
  for (const page of PAGES) {
    const frame = document.createElement("iframe");
    frame.style = "width: 390px; height: 800px";
    frame.addEventListener("load", () => {
      const inside = frame.contentWindow;
      const plots = [...inside.document.querySelectorAll(".plot > svg")];
      found[page] = {
        width: inside.document.documentElement.scrollWidth,
        figures: inside.document.querySelectorAll(".live").length,
        curves: inside.document.querySelectorAll(".plot .curve").length,
        broken: plots.some((plot) => /NaN|Infinity/.test(plot.outerHTML)),
        failures: inside.failures,
        asked: inside.performance.getEntriesByType("resource").length,
      };
      waiting -= 1;
      if (waiting === 0) {
        pre.textContent = JSON.stringify(found);
        document.body.append(pre);
      }
    });
    frame.src = page;
    document.body.append(frame);
  }
})();
