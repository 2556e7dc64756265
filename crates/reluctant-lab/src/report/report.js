// What the page can do beyond showing pictures: curves that can be switched, zoomed and read, and tables that can be
// sorted. Everything is drawn as SVG, so that the page's colours, its dark mode and its fonts hold for the figures.
// Without scripts the page keeps its pictures and tables; nothing here is needed to read it.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = { left: 56, right: 22, top: 10, bottom: 42 };
  const NARROW = 520; // pixels; below, figures are almost as high as wide
  const LEAST_DRAG = 8; // pixels; less is a click
  const ZOOM = 1.6; // by how much a zoom button changes each axis (in log units on logarithmic ones)

  // Helpers -----------------------------------------------------------------------------------------------------------

  function set(element, attributes) {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  function html(parent, name, attributes = {}, text = "") {
    const element = set(document.createElement(name), attributes);
    if (text) element.textContent = text;
    parent.append(element);
    return element;
  }

  function svg(parent, name, attributes = {}, text = "") {
    const element = set(document.createElementNS(SVG, name), attributes);
    if (text) element.textContent = text;
    parent.append(element);
    return element;
  }

  // A number as the tables show it: three or four digits that matter, thin spaces between thousands.
  function said(value) {
    const size = Math.abs(value);
    if (size === 0) return "0";
    if (size < 1e-3 || size >= 1e9) return value.toExponential(1).replace("-", "−");
    const decimals = size < 0.0995 ? 4 : size < 0.995 ? 3 : size < 9.995 ? 2 : size < 999.95 ? 1 : 0;
    return grouped(value.toFixed(decimals));
  }

  function grouped(text) {
    const [whole, ...rest] = text.replace("-", "−").split(".");
    const spaced = whole.length > 4 || rest.length === 0 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") : whole;
    return [spaced, ...rest].join(".");
  }

  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  // The place in increasing `rounds` that is nearest to `round`.
  function nearest(rounds, round) {
    let [low, high] = [0, rounds.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (rounds[middle] <= round) low = middle; else high = middle;
    }
    return Math.abs(rounds[high] - round) < Math.abs(rounds[low] - round) ? high : low;
  }

  // Axes --------------------------------------------------------------------------------------------------------------

  // Maps values between `low` and `high` to pixels between `from` and `to`, and back.
  class Axis {
    constructor(log, [low, high], from, to) {
      Object.assign(this, { log, low, high, from, to });
      [this.a, this.b] = [this.unit(low), this.unit(high)];
    }
    unit(value) { return this.log ? Math.log10(Math.max(value, Number.MIN_VALUE)) : value; }
    value(unit) { return this.log ? 10 ** unit : unit; }
    pixel(value) { return this.from + ((this.unit(value) - this.a) / (this.b - this.a)) * (this.to - this.from); }
    at(pixel) { return this.value(this.a + ((pixel - this.from) / (this.to - this.from)) * (this.b - this.a)); }

    // The range that is `factor` times as wide, around the value `centre`.
    scaled(factor, centre) {
      const middle = this.unit(centre);
      return [this.a, this.b].map((end) => this.value(middle + (end - middle) * factor));
    }

    // Round numbers, about one every `room` pixels.
    ticks(room) {
      const wanted = Math.max(2, Math.floor(Math.abs(this.to - this.from) / room));
      if (this.log && this.b - this.a > 1.2) {
        const step = Math.max(1, Math.ceil((this.b - this.a) / wanted));
        const first = Math.ceil(this.a / step);
        const count = Math.floor(this.b / step + 1e-9) - first + 1;
        return Array.from({ length: count }, (_, i) => 10 ** ((first + i) * step));
      }
      const rough = (this.high - this.low) / wanted;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
      const ticks = [];
      for (let i = Math.ceil(this.low / step - 1e-9); i * step <= this.high * (1 + 1e-9); i += 1) ticks.push(i * step);
      return ticks;
    }
  }

  // A tick's number without the rounding errors of its sum: 0.3, not 0.30000000000000004.
  function tickLabel(value) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e6 || size < 1e-3) {
      return Number(value.toPrecision(3)).toExponential().replace("e+", "e").replace("-", "−");
    }
    return grouped(String(Number(value.toPrecision(6))));
  }

  // A section's figure ------------------------------------------------------------------------------------------------

  // One or more plots on the same axes with one set of controls, one legend, one reading line.
  class Figure {
    constructor(place, data, number) {
      Object.assign(this, { data, number });
      this.state = { middle: "mean", bands: true, trials: false, logX: false, logY: false };
      this.hidden = new Set();
      this.zoom = null; // { x: [low, high], y: [low, high] }, or null for the whole range
      this.round = null; // where the reading line stands, or null for the end
      this.height = null; // the height of the pointer as a regret, to find the nearest trial
      this.rounds = data.panels.map((panel) => panel.rounds).reduce((a, b) => (b.length > a.length ? b : a), []);
      this.last = Math.max(...data.panels.map((panel) => panel.rounds.at(-1)));
      this.first = Math.min(...data.panels.map((panel) => panel.rounds[0]));
      this.policies = [];
      for (const policy of data.panels.flatMap((panel) => panel.policies)) {
        if (!this.policies.some((other) => other.label === policy.label)) this.policies.push(policy);
      }
      this.root = html(place, "div", { class: "live", role: "group", "aria-label": "Interactive figure" });
      this.makeControls();
      const plots = html(this.root, "div", { class: "plots" });
      this.plots = data.panels.map((panel) => new Plot(this, plots, panel));
      html(this.root, "p", { class: "soft help", id: `help-${number}` },
        "Point at the plot or use ← and → to read values; drag to zoom in, or use + and −; 0 shows everything. " +
        "A policy’s name below switches its curve off and on.");
      this.spoken = html(this.root, "p", { class: "unseen", role: "status" });
      this.makeLegend();
      new ResizeObserver(() => this.draw()).observe(this.root);
      this.draw();
    }

    makeControls() {
      const bar = html(this.root, "div", { class: "controls" });
      const label = html(bar, "label", {}, "Show ");
      const choice = html(label, "select");
      html(choice, "option", { value: "mean" }, "mean, 95 % interval");
      html(choice, "option", { value: "median" }, "median, 10–90 % of trials");
      choice.addEventListener("change", () => this.change({ middle: choice.value }));
      const several = this.policies.some((policy) => policy.curves);
      const names = { bands: "bands", trials: "every trial", logX: "log rounds", logY: "log regret" };
      for (const [name, words] of Object.entries(names)) {
        if (!several && (name === "bands" || name === "trials")) continue;
        const label = html(bar, "label");
        const box = html(label, "input", { type: "checkbox", name });
        box.checked = this.state[name];
        box.addEventListener("change", () => this.change({ [name]: box.checked }));
        label.append(` ${words}`);
      }
      const zooms = html(bar, "span", { class: "zooms" });
      const buttons = { "+": ["Zoom in", 1 / ZOOM], "−": ["Zoom out", ZOOM], All: ["All: show the whole range", 0] };
      for (const [sign, [words, factor]] of Object.entries(buttons)) {
        const button = html(zooms, "button", { type: "button", "aria-label": words, title: words }, sign);
        button.addEventListener("click", () => this.zoomBy(factor));
      }
    }

    // A row a policy: a switch, and its value in each plot at the reading line.
    makeLegend() {
      const box = html(this.root, "div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Values" });
      const table = html(box, "table", { class: "legend" });
      const head = html(html(table, "thead"), "tr");
      this.caption = html(head, "th", { scope: "col", class: "words" });
      for (const panel of this.data.panels) {
        html(head, "th", { scope: "col" }, this.data.panels.length > 1 ? panel.title : "Regret");
        html(head, "th", { scope: "col" }, "Band");
      }
      const body = html(table, "tbody");
      this.rows = this.policies.map((policy) => {
        const row = html(body, "tr");
        const name = html(row, "th", { scope: "row", class: "words" });
        const button = html(name, "button", { type: "button", class: "switch", "aria-pressed": "true" });
        const swatch = svg(button, "svg", { width: 30, height: 10, "aria-hidden": "true" });
        svg(swatch, "path", { d: "M0 5H30", class: `curve c${policy.colour}`, "stroke-dasharray": policy.dash });
        html(button, "span", {}, policy.label);
        button.addEventListener("click", () => {
          if (!this.hidden.delete(policy.label)) this.hidden.add(policy.label);
          button.setAttribute("aria-pressed", String(!this.hidden.has(policy.label)));
          this.draw();
        });
        const cells = this.data.panels.map(() => [html(row, "td"), html(row, "td")]);
        return { row, policy, cells };
      });
      this.note = html(this.root, "p", { class: "soft" });
    }

    change(what) {
      Object.assign(this.state, what);
      this.zoom = null;
      this.draw();
    }

    shown(panel) {
      return panel.policies.filter((policy) => !this.hidden.has(policy.label));
    }

    // Ranges --------------------------------------------------------------------------------------------------------

    // The whole range of rounds: from 0 on a linear axis, from the first checkpoint on a logarithmic one.
    wholeX() {
      return this.state.logX ? [this.first, Math.max(this.last, this.first * 1.01)] : [0, this.last];
    }

    // The whole range of regrets of what is shown, the same for all plots. A policy that pays several times more than
    // all others would press them onto the axis: such ones leave at the top, though never half of them or more.
    wholeY() {
      const all = this.data.panels.flatMap((panel) => this.shown(panel));
      const { middle, bands, trials, logY } = this.state;
      const lines = all.map((policy) => policy[middle]);
      const upper = all.flatMap((policy) => [
        ...(bands && policy[`${middle}Band`] ? policy[`${middle}Band`] : []),
        ...(trials && policy.curves ? policy.curves : []),
      ]);
      if (logY) {
        const positive = [...lines, ...upper].flat().filter((value) => value > 0);
        const [low, high] = positive.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, 0]);
        return high > 0 ? [Math.max(low * 0.9, high * 1e-5), high * 1.15] : [0.1, 1];
      }
      const ends = lines.map((line) => line.at(-1)).sort((a, b) => b - a);
      let leaving = 0;
      while (leaving < Math.floor((ends.length - 1) / 2) && ends[leaving] > 2.5 * ends[leaving + 1]) leaving += 1;
      const highest = ends.length ? ends[leaving] : 0;
      const kept = all.filter((policy) => policy[middle].at(-1) <= highest);
      const band = bands ? kept.flatMap((policy) => policy[`${middle}Band`]?.[1] ?? []) : [];
      const curves = trials ? kept.flatMap((policy) => (policy.curves ?? []).map((curve) => curve.at(-1))) : [];
      const wide = [...band, ...curves].reduce((a, b) => Math.max(a, b), highest);
      return [0, 1.04 * Math.min(wide, (trials ? 4 : 2) * highest) || 1];
    }

    range() {
      return this.zoom ?? { x: this.wholeX(), y: this.wholeY() };
    }

    zoomTo(range) {
      this.zoom = range;
      this.draw();
    }

    // Zooms by a factor around the reading line, or shows everything for 0.
    zoomBy(factor) {
      if (factor === 0) return this.zoomTo(null);
      const { x, y } = this.plots[0];
      const centre = this.round ?? x.value((x.a + x.b) / 2);
      const whole = this.wholeX();
      const wide = x.scaled(factor, clamp(centre, x.low, x.high)).map((end) => clamp(end, ...whole));
      // Regret stands on its lower end: the eye compares heights from there.
      const low = this.state.logY ? y.scaled(factor, y.low)[0] : y.low;
      return this.zoomTo({ x: wide, y: [low, y.scaled(factor, y.low)[1]] });
    }

    // Reading -------------------------------------------------------------------------------------------------------

    // Moves the reading line by some checkpoints.
    step(count) {
      const at = nearest(this.rounds, this.round ?? this.last);
      this.read(this.rounds[clamp(at + count, 0, this.rounds.length - 1)], null);
      const values = this.rows.filter(({ row }) => !row.hidden).map(({ policy, cells }) =>
        `${policy.label} ${cells.map(([value]) => value.textContent).join(" and ")}`);
      this.spoken.textContent = `Round ${this.round}: ${values.join(", ")}`;
    }

    read(round, height) {
      Object.assign(this, { round, height });
      this.plots.forEach((plot) => plot.drawReading());
      this.fillLegend();
    }

    fillLegend() {
      const { middle } = this.state;
      const round = this.rounds[nearest(this.rounds, this.round ?? this.last)];
      this.caption.textContent = `After ${grouped(String(round))} rounds`;
      for (const { row, policy, cells } of this.rows) {
        row.classList.toggle("off", this.hidden.has(policy.label));
        this.data.panels.forEach((panel, i) => {
          const mine = panel.policies.find((other) => other.label === policy.label);
          const at = nearest(panel.rounds, round);
          const band = mine?.[`${middle}Band`];
          const leaves = mine && !this.hidden.has(policy.label) && mine[middle].at(-1) > this.plots[i].y.high;
          cells[i][0].textContent = mine ? said(mine[middle][at]) + (leaves ? " ↑" : "") : "–";
          cells[i][0].title = leaves ? "This curve ends above the plot" : "";
          cells[i][1].textContent = band ? `${said(band[0][at])} – ${said(band[1][at])}` : "–";
        });
      }
      const near = this.plots.map((plot) => plot.near).find(Boolean);
      this.note.textContent = near
        ? `Nearest trial: ${near.policy.label}, number ${near.trial}, ${said(near.value)} after ${near.round} rounds.`
        : this.about();
    }

    // Which trials are drawn, and what the arrows are.
    about() {
      const words = [];
      if (this.state.trials) {
        const most = this.policies.find((policy) => policy.curves && policy.curves.length < policy.of);
        words.push(most ? `The first ${most.curves.length} of ${grouped(String(most.of))} trials are drawn.`
          : "Every trial is drawn.");
      }
      if (this.rows.some(({ cells }) => cells.some(([value]) => value.textContent.endsWith("↑")))) {
        words.push("↑: this curve ends above the plot.");
      }
      return words.join(" ");
    }

    draw() {
      this.plots.forEach((plot) => plot.draw());
      this.read(this.round, this.height);
    }
  }

  // One pair of axes --------------------------------------------------------------------------------------------------

  class Plot {
    constructor(figure, place, panel) {
      Object.assign(this, { figure, panel, near: null });
      const box = html(place, "figure", { class: "plot" });
      if (figure.data.panels.length > 1) html(box, "figcaption", {}, panel.title);
      this.box = box;
      this.canvas = svg(box, "svg", {
        tabindex: "0", role: "application", "aria-roledescription": "plot", "aria-describedby": `help-${figure.number}`,
        "aria-label": `Cumulative regret against rounds, ${panel.title}`,
      });
      this.listen();
    }

    draw() {
      const width = Math.max(this.box.clientWidth - 2, 200);
      const height = Math.round(width < NARROW ? width * 0.85 : Math.min(width * 0.5, 440));
      const { x, y } = this.figure.range();
      const { logX, logY } = this.figure.state;
      this.x = new Axis(logX, x, MARGIN.left, width - MARGIN.right);
      this.y = new Axis(logY, y, height - MARGIN.bottom, MARGIN.top);
      Object.assign(this, { width, height });
      this.canvas.replaceChildren();
      set(this.canvas, { width, height, viewBox: `0 0 ${width} ${height}` });
      this.drawAxes();
      // A nested element cuts off what lies outside of the frame.
      const [w, h] = [this.x.to - this.x.from, this.y.from - this.y.to];
      const inside = svg(this.canvas, "svg",
        { x: MARGIN.left, y: MARGIN.top, width: w, height: h, viewBox: `${MARGIN.left} ${MARGIN.top} ${w} ${h}` });
      const shown = this.figure.shown(this.panel);
      if (this.figure.state.bands) shown.forEach((policy) => this.drawBand(inside, policy));
      if (this.figure.state.trials) shown.forEach((policy) => this.drawTrials(inside, policy));
      shown.forEach((policy) => this.drawCurve(inside, policy));
      this.chosen = svg(inside, "path", { class: "chosen" });
      this.line = svg(inside, "line", { class: "reading", y1: MARGIN.top, y2: this.y.from });
      this.dots = svg(inside, "g");
      this.drag = svg(inside, "rect", { class: "drag", visibility: "hidden" });
    }

    drawAxes() {
      const { x, y, canvas } = this;
      for (const tick of x.ticks(80)) {
        const at = x.pixel(tick);
        svg(canvas, "line", { class: "grid", x1: at, x2: at, y1: y.from, y2: y.to });
        svg(canvas, "text", { x: at, y: y.from + 17, "text-anchor": "middle" }, tickLabel(tick));
      }
      for (const tick of y.ticks(45)) {
        const at = y.pixel(tick);
        svg(canvas, "line", { class: "grid", x1: x.from, x2: x.to, y1: at, y2: at });
        svg(canvas, "text", { x: x.from - 6, y: at + 4, "text-anchor": "end" }, tickLabel(tick));
      }
      svg(canvas, "text", { x: (x.from + x.to) / 2, y: this.height - 6, "text-anchor": "middle" }, "Rounds");
      const middle = (y.from + y.to) / 2;
      svg(canvas, "text", { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` },
        "Cumulative regret");
    }

    // The points of a path through `values` at `rounds`. Linear axes begin at nothing paid before the first round;
    // values of 0 have no place on a logarithmic one.
    points(rounds, values) {
      const { x, y } = this;
      const points = rounds.map((round, i) => [round, values[i]]);
      if (!x.log && !y.log) points.unshift([0, 0]);
      return points.filter(([, value]) => !y.log || value > 0)
        .map(([round, value]) => `${x.pixel(round).toFixed(1)} ${clamp(y.pixel(value), -1e5, 1e5).toFixed(1)}`);
    }

    path(rounds, values) {
      const points = this.points(rounds, values);
      return points.length ? `M${points.join("L")}` : "";
    }

    drawCurve(parent, policy) {
      const d = this.path(this.panel.rounds, policy[this.figure.state.middle]);
      svg(parent, "path", { class: `curve c${policy.colour}`, "stroke-dasharray": policy.dash, d });
    }

    drawBand(parent, policy) {
      const band = policy[`${this.figure.state.middle}Band`];
      if (!band) return;
      // Where the lower end is 0 or less, a logarithmic axis shows the band down to its own end.
      const low = this.y.log ? band[0].map((end, i) => (end > 0 ? end : Math.min(this.y.low, band[1][i]))) : band[0];
      const there = this.points(this.panel.rounds, band[1]);
      const back = this.points(this.panel.rounds, low).reverse();
      const d = there.length ? `M${[...there, ...back].join("L")}Z` : "";
      svg(parent, "path", { class: `band c${policy.colour}`, d });
    }

    drawTrials(parent, policy) {
      for (const curve of policy.curves ?? []) {
        svg(parent, "path", { class: `trial c${policy.colour}`, d: this.path(this.panel.trialRounds, curve) });
      }
    }

    // The line at the round that is read, a dot on each curve, and the trial next to the pointer.
    drawReading() {
      const { figure, panel, x, y } = this;
      this.dots.replaceChildren();
      this.near = null;
      const visible = figure.round !== null;
      this.line.setAttribute("visibility", visible ? "visible" : "hidden");
      this.chosen.setAttribute("d", "");
      if (!visible) return;
      const at = nearest(panel.rounds, figure.round);
      set(this.line, { x1: x.pixel(panel.rounds[at]), x2: x.pixel(panel.rounds[at]) });
      for (const policy of figure.shown(panel)) {
        const value = policy[figure.state.middle][at];
        if (y.log && !(value > 0)) continue;
        const [cx, cy] = [x.pixel(panel.rounds[at]), clamp(y.pixel(value), -1e5, 1e5)];
        svg(this.dots, "circle", { class: `dot c${policy.colour}`, r: 3.5, cx, cy });
      }
      if (figure.state.trials && this.pointed) this.drawNear();
    }

    drawNear() {
      const { figure, panel, y } = this;
      const at = nearest(panel.trialRounds, figure.round);
      let least = 40; // pixels; farther off is not meant
      for (const policy of figure.shown(panel)) {
        (policy.curves ?? []).forEach((curve, i) => {
          const away = Math.abs(y.pixel(curve[at]) - y.pixel(figure.height));
          if (away < least) {
            least = away;
            this.near = { policy, trial: policy.trials[i], value: curve[at], round: panel.trialRounds[at], curve };
          }
        });
      }
      if (this.near) this.chosen.setAttribute("d", this.path(panel.trialRounds, this.near.curve));
    }

    // What the pointer and the keys do ------------------------------------------------------------------------------

    listen() {
      const { canvas, figure } = this;
      let start = null;
      const place = (event) => {
        const box = canvas.getBoundingClientRect();
        const [x, y] = [event.clientX - box.left, event.clientY - box.top];
        return [clamp(x, this.x.from, this.x.to), clamp(y, this.y.to, this.y.from)];
      };
      canvas.addEventListener("pointerdown", (event) => {
        // A finger reads values and scrolls the page; the buttons zoom.
        if (event.pointerType === "touch" || event.button !== 0) return;
        start = place(event);
        if (event.isTrusted) canvas.setPointerCapture(event.pointerId);
      });
      canvas.addEventListener("pointermove", (event) => {
        const [x, y] = place(event);
        this.pointed = true;
        figure.read(clamp(this.x.at(x), figure.first, figure.last), this.y.at(y));
        this.showDrag(start, [x, y]);
      });
      canvas.addEventListener("pointerup", (event) => {
        const end = place(event);
        if (start && Math.abs(end[0] - start[0]) >= LEAST_DRAG) this.zoomInto(start, end);
        start = null;
        this.showDrag(null);
      });
      canvas.addEventListener("pointercancel", () => { start = null; this.showDrag(null); });
      canvas.addEventListener("pointerleave", () => {
        this.pointed = false;
        if (!start && document.activeElement !== canvas) figure.read(null, null);
      });
      canvas.addEventListener("dblclick", () => figure.zoomTo(null));
      canvas.addEventListener("blur", () => figure.read(null, null));
      canvas.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const many = event.shiftKey ? Math.ceil(figure.rounds.length / 10) : 1;
        const actions = {
          ArrowLeft: () => figure.step(-many),
          ArrowRight: () => figure.step(many),
          Home: () => figure.step(-figure.rounds.length),
          End: () => figure.step(figure.rounds.length),
          "+": () => figure.zoomBy(1 / ZOOM),
          "=": () => figure.zoomBy(1 / ZOOM),
          "-": () => figure.zoomBy(ZOOM),
          "0": () => figure.zoomBy(0),
          Escape: () => figure.zoomBy(0),
        };
        if (!(event.key in actions)) return;
        event.preventDefault();
        actions[event.key]();
      });
    }

    showDrag(start, end) {
      this.drag.setAttribute("visibility", start ? "visible" : "hidden");
      if (!start) return;
      const flat = Math.abs(end[1] - start[1]) < LEAST_DRAG; // sideways only: all heights
      const [top, bottom] = flat ? [this.y.to, this.y.from] : [Math.min(start[1], end[1]), Math.max(start[1], end[1])];
      const [left, right] = [Math.min(start[0], end[0]), Math.max(start[0], end[0])];
      set(this.drag, { x: left, width: right - left, y: top, height: bottom - top });
    }

    zoomInto(start, end) {
      const [left, right] = [start[0], end[0]].sort((a, b) => a - b).map((pixel) => this.x.at(pixel));
      const flat = Math.abs(end[1] - start[1]) < LEAST_DRAG;
      const [high, low] = [start[1], end[1]].sort((a, b) => a - b).map((pixel) => this.y.at(pixel));
      this.figure.zoomTo({ x: [left, right], y: flat ? [this.y.low, this.y.high] : [low, high] });
    }
  }

  // Tables ------------------------------------------------------------------------------------------------------------

  // Every column's title becomes a button that sorts by it: numbers by their size, words by the alphabet.
  function makeSortable(table) {
    const body = table.tBodies[0];
    if (!body || body.rows.length < 2) return;
    const titles = [...table.tHead.rows[0].cells];
    titles.forEach((title, column) => {
      const button = html(title, "button", { type: "button", class: "sort" });
      button.append(...[...title.childNodes].filter((node) => node !== button));
      button.addEventListener("click", () => {
        const down = title.getAttribute("aria-sort") === "ascending";
        titles.forEach((other) => other.removeAttribute("aria-sort"));
        title.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(body, column, down ? -1 : 1);
      });
    });
  }

  function sort(body, column, sign) {
    const key = (row) => (row.cells[column].dataset.v === undefined ? null : Number(row.cells[column].dataset.v));
    const words = (row) => row.cells[column].textContent;
    const rows = [...body.rows].sort((first, second) => {
      const [a, b] = [key(first), key(second)];
      if (a !== null && b !== null) return sign * (a - b);
      if (a !== null || b !== null) return a === null ? 1 : -1; // rows without a number stay at the end
      return sign * words(first).localeCompare(words(second), "en", { numeric: true });
    });
    body.append(...rows);
  }

  // The page ----------------------------------------------------------------------------------------------------------

  document.querySelectorAll("table").forEach(makeSortable);
  document.querySelectorAll("script.data").forEach((script, number) => {
    const data = JSON.parse(script.textContent);
    if (!data.panels.some((panel) => panel.policies.length)) return;
    const pictures = script.closest(".figures");
    const place = document.createElement("div");
    pictures.before(place);
    // The pictures stay at hand: they are what the files beside this page show.
    const details = html(place, "details", { class: "still" });
    html(details, "summary", {}, "The figures as printed");
    details.append(pictures);
    new Figure(place, data, number);
    place.append(details);
  });
})();
