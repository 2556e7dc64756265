// The demo of the guide: pictures and controls around the core, which is in reluctant.wasm.gz.

const SIDE = 33; // points on each side of a picture, as in crates/reluctant-web
const COLOURS = ["#0072b2", "#d55e00"]; // of the two policies, told apart also by those who see no red or green
const MOST_ROUNDS = 1000;
const MOST_NEURONS = 8;
const REACH = 2; // the longest neuron
// From low to high: dark to bright, so that it reads without colours, too.
const SCALE = [[38, 20, 72], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

const element = (id) => document.getElementById(`demo-${id}`);
let core, neurons, curves, playing = false, dragged = -1, round = 0, chosen = [[], []];

async function load() {
  if (typeof WebAssembly !== "object") {
    return say("This browser has no WebAssembly, which the demo needs. The page of results shows figures instead.");
  }
  let answer;
  try {
    answer = await fetch(new URL("reluctant.wasm.gz", import.meta.url));
  } catch {
    answer = { ok: false };
  }
  if (!answer.ok) {
    return say("The core of the demo, reluctant.wasm.gz, is not here: docs/demo/build makes it before the guide is built.");
  }
  try {
    core = (await WebAssembly.instantiate(await unpacked(await answer.blob()), {})).instance.exports;
  } catch (error) {
    return say(`The core of the demo could not be started in this browser: ${error.message}`);
  }
  const policies = JSON.parse(text(core.policies()));
  [0, 1].forEach((i) => {
    const select = element(`policy-${i}`);
    policies.forEach(([name, summary]) => select.add(Object.assign(new Option(name, name), { title: summary })));
    select.value = ["plausible", "oful"][i];
    select.addEventListener("change", restart);
  });
  neurons = [{ angle: 30, length: 1, sign: 1 }, { angle: 160, length: 0.8, sign: 1 }, { angle: -90, length: 1, sign: -1 }];
  element("seed").addEventListener("change", restart);
  element("play").addEventListener("click", () => toggle(!playing));
  element("step").addEventListener("click", () => { toggle(false); step(); draw(); });
  element("again").addEventListener("click", restart);
  element("add").addEventListener("click", () => {
    neurons.push({ angle: 0, length: 1, sign: 1 });
    list();
    restart();
  });
  watchPointer(element("truth"));
  addEventListener("resize", () => regrets(element("regret")));
  element("board").hidden = false;
  list();
  restart();
}

// Some servers unpack what ends in .gz on the way: then it begins as WebAssembly does.
async function unpacked(blob) {
  const packed = new Uint8Array(await blob.slice(0, 2).arrayBuffer())[0] === 0x1f;
  const stream = packed ? blob.stream().pipeThrough(new DecompressionStream("gzip")) : blob.stream();
  return new Response(stream).arrayBuffer();
}

// ---- the core

function text(length) {
  return new TextDecoder().decode(new Uint8Array(core.memory.buffer, core.text(), length));
}

// Memory may have moved since the last call, so views are made anew.
function numbers(count) {
  return new Float64Array(core.memory.buffer, core.numbers(), count);
}

function ask(count) {
  if (count < 0) throw new Error(text(core.message()));
  return Array.from(numbers(count));
}

function restart() {
  toggle(false);
  const places = [0, 1].map((i) => element(`policy-${i}`).selectedIndex);
  const flat = neurons.flatMap((neuron) => [...tip(neuron), neuron.sign]);
  numbers(flat.length).set(flat);
  round = 0;
  curves = [[0], [0]];
  chosen = [[], []];
  if (core.start(Number(element("seed").value) >>> 0, neurons.length, ...places) < 0) {
    return say(`This game cannot be played: ${text(core.message())}.`);
  }
  draw();
}

function step() {
  if (round >= MOST_ROUNDS) return false;
  round = core.play();
  if (round < 0) {
    say(`The game had to end: ${text(core.message())}.`);
    return false;
  }
  curves.forEach((curve, i) => {
    const [regret, x, y] = ask(core.standing(i));
    curve.push(regret);
    chosen[i].push([x, y]);
  });
  return true;
}

function toggle(on) {
  if (on && !playing) requestAnimationFrame(frame);
  playing = on;
  element("play").textContent = on ? "Pause" : "Play";
}

// As many rounds as fit into a twentieth of a second: pages stay usable while slow policies think.
function frame() {
  if (!playing) return;
  const until = performance.now() + 50;
  let going = true;
  while (going && performance.now() < until) going = step();
  draw();
  if (going) requestAnimationFrame(frame);
  else toggle(false);
}

// ---- pictures

function draw() {
  const truth = ask(core.truth());
  const range = [Math.min(...truth), Math.max(...truth)];
  const arms = round ? ask(core.arms()) : [];
  picture(element("truth"), truth, range, (canvas) => {
    for (let i = 0; i < arms.length; i += 2) dot(canvas, arms[i], arms[i + 1], 2, "#ffffffb0");
    chosen.forEach((points, i) => points.slice(-1).forEach(([x, y]) => ring(canvas, x, y, 7 + 3 * i, COLOURS[i])));
    neurons.forEach((neuron) => arrow(canvas, neuron));
  });
  [0, 1].forEach((i) => {
    picture(element(`belief-${i}`), ask(core.belief(i)), range, (canvas) => {
      chosen[i].slice(-200).forEach(([x, y]) => dot(canvas, x, y, 3, COLOURS[i], "#fff"));
    });
    element(`name-${i}`).textContent = `What ${name(i)} believes, and the arms it chose`;
  });
  regrets(element("regret"));
  const losses = curves.map((curve, i) => `${name(i)} has lost ${curve[round].toFixed(1)}`).join(", ");
  say(round ? `Round ${round}: ${losses}.` : "Ready. Press Play.");
}

function picture(element, values, [low, high], decorate) {
  const canvas = element.getContext("2d");
  const image = canvas.createImageData(SIDE, SIDE);
  values.forEach((value, i) => {
    image.data.set([...colour((value - low) / (high - low || 1)), 255], 4 * i);
  });
  const small = new OffscreenCanvas(SIDE, SIDE);
  small.getContext("2d").putImageData(image, 0, 0);
  canvas.clearRect(0, 0, element.width, element.height);
  canvas.save();
  canvas.beginPath();
  canvas.arc(element.width / 2, element.height / 2, element.width / 2, 0, 2 * Math.PI);
  canvas.clip();
  canvas.drawImage(small, 0, 0, element.width, element.height);
  canvas.restore();
  decorate(canvas);
}

function colour(share) {
  const place = Math.min(Math.max(share, 0), 1) * (SCALE.length - 1);
  const below = Math.min(Math.floor(place), SCALE.length - 2);
  return SCALE[below].map((from, i) => from + (place - below) * (SCALE[below + 1][i] - from));
}

const toPixel = (canvas, x, y) => [((x + 1) / 2) * canvas.canvas.width, ((1 - y) / 2) * canvas.canvas.height];

function dot(canvas, x, y, radius, fill, edge) {
  canvas.beginPath();
  canvas.arc(...toPixel(canvas, x, y), radius, 0, 2 * Math.PI);
  canvas.fillStyle = fill;
  canvas.fill();
  if (edge) Object.assign(canvas, { strokeStyle: edge, lineWidth: 1 }).stroke();
}

function ring(canvas, x, y, radius, edge) {
  for (const [strokeStyle, lineWidth] of [["#fff", 5], [edge, 3]]) {
    canvas.beginPath();
    canvas.arc(...toPixel(canvas, x, y), radius, 0, 2 * Math.PI);
    Object.assign(canvas, { strokeStyle, lineWidth }).stroke();
  }
}

function arrow(canvas, neuron) {
  const [from, to] = [toPixel(canvas, 0, 0), toPixel(canvas, ...handle(neuron))];
  canvas.beginPath();
  canvas.moveTo(...from);
  canvas.lineTo(...to);
  Object.assign(canvas, { strokeStyle: "#fff", lineWidth: 4 }).stroke();
  Object.assign(canvas, { strokeStyle: "#000", lineWidth: 2 }).stroke();
  dot(canvas, ...handle(neuron), 9, "#000", "#fff");
  Object.assign(canvas, { fillStyle: "#fff", font: "bold 14px sans-serif", textAlign: "center", textBaseline: "middle" });
  canvas.fillText(neuron.sign > 0 ? "+" : "−", ...to);
}

function regrets(element) {
  const canvas = element.getContext("2d");
  const [width, height] = fitted(element, canvas);
  const ink = getComputedStyle(element).color;
  const [left, bottom, top, right] = [55, 30, 12, 12];
  const most = Math.max(1, ...curves.flat());
  const last = Math.max(20, round);
  const at = (t, regret) => [
    left + (t / last) * (width - left - right),
    height - bottom - (regret / most) * (height - bottom - top),
  ];
  canvas.clearRect(0, 0, width, height);
  Object.assign(canvas, { fillStyle: ink, strokeStyle: ink, lineWidth: 1, font: "14px sans-serif", textBaseline: "middle" });
  canvas.strokeRect(left, top, width - left - right, height - bottom - top);
  canvas.textAlign = "right";
  [0, most / 2, most].forEach((value) => canvas.fillText(value.toFixed(most < 10 ? 1 : 0), left - 6, at(0, value)[1]));
  canvas.textAlign = "center";
  [0, last / 2, last].forEach((t) => canvas.fillText(`round ${Math.round(t)}`, Math.min(at(t, 0)[0], width - 40), height - 12));
  curves.forEach((curve, i) => {
    canvas.beginPath();
    curve.forEach((regret, t) => canvas.lineTo(...at(t, regret)));
    canvas.setLineDash(i ? [8, 4] : []);
    Object.assign(canvas, { strokeStyle: COLOURS[i], lineWidth: 2.5 }).stroke();
    canvas.setLineDash([]);
    Object.assign(canvas, { textAlign: "left", fillStyle: ink });
    canvas.fillText(`${i ? "- -" : "—"} ${name(i)}`, left + 12, top + 16 + 20 * i);
  });
}

// As many points as the screen has, so that letters are as large on a phone; the size in the page's own pixels.
function fitted(element, canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(280, element.parentElement.clientWidth);
  const height = Math.min(300, Math.round(0.6 * width));
  Object.assign(element, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  canvas.setTransform(ratio, 0, 0, ratio, 0, 0);
  return [width, height];
}

// ---- neurons

const tip = ({ angle, length }) => [length * Math.cos((angle * Math.PI) / 180), length * Math.sin((angle * Math.PI) / 180)];
// Where an arrow ends in the picture: neurons of length 1 reach half of the way.
const handle = (neuron) => tip(neuron).map((value) => value / REACH);

function list() {
  const rows = neurons.map((neuron, i) => {
    const row = document.createElement("div");
    row.className = "demo-row";
    row.append(
      slider(`Angle of neuron ${i + 1}`, neuron, "angle", -180, 180, 1),
      slider(`Length of neuron ${i + 1}`, neuron, "length", 0.1, REACH, 0.1),
      neuron.sign > 0
        ? button("Adds", `Adds: let neuron ${i + 1} subtract`, () => { neuron.sign = -1; })
        : button("Subtracts", `Subtracts: let neuron ${i + 1} add`, () => { neuron.sign = 1; }),
      button("Remove", `Remove neuron ${i + 1}`, () => neurons.splice(i, 1), neurons.length === 1),
    );
    return row;
  });
  element("neurons").replaceChildren(...rows);
  element("add").disabled = neurons.length >= MOST_NEURONS;
}

function slider(label, neuron, what, min, max, step) {
  const around = document.createElement("label");
  const input = Object.assign(document.createElement("input"), { type: "range", min, max, step, value: neuron[what] });
  input.addEventListener("input", () => {
    neuron[what] = Number(input.value);
    restart();
  });
  around.append(label, input);
  return around;
}

function button(label, title, act, disabled = false) {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: label, title, disabled });
  made.setAttribute("aria-label", title);
  made.addEventListener("click", () => {
    const buttons = () => [...element("neurons").querySelectorAll("button")];
    const place = buttons().indexOf(made);
    act();
    list();
    restart();
    // The list is made anew; whoever uses the keyboard stays where they were.
    buttons().at(Math.min(place, buttons().length - 1)).focus();
  });
  return made;
}

function watchPointer(canvas) {
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height];
  };
  canvas.addEventListener("pointerdown", (event) => {
    const [x, y] = place(event);
    const far = neurons.map((neuron) => Math.hypot(handle(neuron)[0] - x, handle(neuron)[1] - y));
    const nearest = far.indexOf(Math.min(...far));
    dragged = far[nearest] < 0.15 ? nearest : -1;
    if (dragged >= 0) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (dragged < 0) return;
    const [x, y] = place(event);
    const length = Math.min(Math.max(REACH * Math.hypot(x, y), 0.1), REACH);
    Object.assign(neurons[dragged], { angle: Math.round((Math.atan2(y, x) * 180) / Math.PI), length });
    restart();
  });
  const drop = () => {
    if (dragged >= 0) list();
    dragged = -1;
  };
  canvas.addEventListener("pointerup", drop);
  canvas.addEventListener("pointercancel", drop);
}

function name(i) {
  return element(`policy-${i}`).value;
}

function say(sentence) {
  element("status").textContent = sentence;
}

load();
