const el = id => document.getElementById(id);
const shades = {};  // pictures of densities, by scene and colour
let timer = null;

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const chosen = () => ({ scene: DATA.scenes[el("scene").value], rule: el("rule").value, k: +el("n").value });

/* Size a canvas to the pixels of the screen; return its context and its size in CSS pixels. */
function context(canvas) {
  const { width, height } = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  return [c, width, height];
}

/* The density as a small picture: ink of growing opacity. */
function shade(scene) {
  const ink = colour("--ink"), key = scene.name + ink;
  if (shades[key]) return shades[key];
  const small = document.createElement("canvas");
  small.width = small.height = DATA.cells;
  const c = small.getContext("2d");
  c.fillStyle = ink;
  scene.density.forEach((value, i) => {
    c.globalAlpha = value / 99 * 0.6;
    c.fillRect(i % DATA.cells, Math.floor(i / DATA.cells), 1, 1);
  });
  return shades[key] = small;
}

function drawPoints() {
  const { scene, rule, k } = chosen(), frame = scene.rules[rule][k];
  const [c, size] = context(el("points")), [low, high] = DATA.window;
  const at = (x, y) => [(x - low) / (high - low) * size, (high - y) / (high - low) * size];
  c.imageSmoothingEnabled = true;
  c.drawImage(shade(scene), 0, 0, size, size);
  c.fillStyle = colour("--dot");
  c.globalAlpha = 0.75;
  frame.w.forEach((w, i) => {
    const [x, y] = at(frame.x[2 * i] / 1000, frame.x[2 * i + 1] / 1000);
    c.beginPath();
    c.arc(x, y, Math.max(0.8, 0.11 * size * Math.sqrt(w / 10000)), 0, 7);
    c.fill();
  });
  c.globalAlpha = 1;
  if (scene.cross) drawCross(c, ...at(...scene.cross));
}

function drawCross(c, x, y) {
  c.strokeStyle = colour("--mark");
  c.lineWidth = 2;
  c.beginPath();
  c.moveTo(x - 8, y); c.lineTo(x + 8, y); c.moveTo(x, y - 8); c.lineTo(x, y + 8);
  c.stroke();
}

/* Error against the number of points for all rules of the scene, on logarithmic axes. */
function drawErrors() {
  const { scene, rule, k } = chosen(), [c, width, height] = context(el("errors"));
  const errors = Object.values(scene.rules).flat().map(f => Math.log10(f.error));
  const low = Math.floor(Math.min(...errors)), high = Math.ceil(Math.max(...errors));
  const right = Math.log(DATA.sizes.at(-1));
  const x = n => 48 + Math.log(n) / right * (width - 64);
  const y = e => 10 + (high - Math.log10(e)) / (high - low) * (height - 34);
  c.font = "12px system-ui, sans-serif";
  c.fillStyle = colour("--soft");
  c.strokeStyle = colour("--line");
  for (let power = low; power <= high; power++) {
    c.fillText(String(10 ** power), 4, y(10 ** power) + 4);
    c.beginPath(); c.moveTo(48, y(10 ** power)); c.lineTo(width - 16, y(10 ** power)); c.stroke();
  }
  for (const n of [1, 10, 100]) c.fillText(n, x(n) - 5 * String(n).length / 1.5, height - 6);
  for (const [name, frames] of Object.entries(scene.rules)) {
    c.strokeStyle = colour(name === rule ? "--dot" : "--soft");
    c.lineWidth = name === rule ? 3 : 1;
    c.beginPath();
    frames.forEach((f, i) => c.lineTo(x(DATA.sizes[i]), y(f.error)));
    c.stroke();
  }
  c.fillStyle = colour("--dot");
  c.beginPath(); c.arc(x(DATA.sizes[k]), y(scene.rules[rule][k].error), 5, 0, 7); c.fill();
}

function say() {
  const { scene, rule, k } = chosen(), frame = scene.rules[rule][k];
  const factor = scene.rules.random[k].error / frame.error;
  const compared = rule === "random" ? "" : `, ${factor >= 1 ? factor.toPrecision(2) + " times smaller" :
    (1 / factor).toPrecision(2) + " times larger"} than that of random points`;
  el("count").textContent = DATA.sizes[k];
  el("says").textContent = `${scene.error} ${frame.error}${compared}`;
}

function draw() { drawPoints(); drawErrors(); say(); }

/* Rules of the chosen scene; the choice is kept where the other scene has it too. */
function listRules() {
  const before = el("rule").value, names = Object.keys(chosen().scene.rules);
  el("rule").replaceChildren(...names.map(name => new Option(name, name)));
  el("rule").value = names.includes(before) ? before : "all weights";
  draw();
}

function stop() { clearInterval(timer); timer = null; el("play").textContent = "Play"; }

function play() {
  if (timer !== null) return stop();
  if (+el("n").value === DATA.sizes.length - 1) el("n").value = 0;
  el("play").textContent = "Pause";
  timer = setInterval(() => {
    el("n").value = +el("n").value + 1;
    draw();
    if (+el("n").value === DATA.sizes.length - 1) stop();
  }, 500);
}

el("scene").replaceChildren(...Object.entries(DATA.scenes).map(([key, s]) => new Option(s.name, key)));
el("n").max = DATA.sizes.length - 1;
el("n").value = 8;
el("scene").addEventListener("change", listRules);
el("rule").addEventListener("change", draw);
el("n").addEventListener("input", draw);
el("play").addEventListener("click", play);
window.addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
listRules();
