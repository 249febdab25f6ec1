// Drawing on a canvas: colours, axes and their labels.

const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const GUTTER = 52; // pixels for the labels of the vertical axis
const MARGIN = { top: 8, right: 8, bottom: 20 };

let colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "soft", "grid", "mean", "band", "truth", "mark", "bad", "cursor", "page",
    "look0", "look1", "look2", "look3", "look4"]) colours[name] = style.getPropertyValue("--" + name).trim();
}
readColours();

const lookColour = (k, looks) => looks === 1 ? colours.mean : colours["look" + Math.min(k, 4)];

// A canvas at the resolution of the screen, cleared; null if it is not laid out.
function prepared(id) {
  const canvas = byId(id), [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width || !height) return null;
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = FONT;
  g.lineJoin = "round";
  return { g, width, height };
}

// Axes of a canvas with the given vertical range; its functions x and y give pixels.
function frame({ g, width, height }, low, high, horizontal, labelled = true) {
  const box = { left: GUTTER, right: width - MARGIN.right, top: MARGIN.top, bottom: height - (labelled ? MARGIN.bottom : 6) };
  const [a, b] = horizontal;
  const x = (value) => box.left + (value - a) / (b - a) * (box.right - box.left);
  const y = (value) => box.bottom - (value - low) / (high - low) * (box.bottom - box.top);
  return { g, x, y, ...box, low, high, a, b };
}

function drawGrid(f, vertical, across) {
  const { g } = f;
  g.lineWidth = 1;
  g.strokeStyle = colours.grid;
  g.fillStyle = colours.soft;
  g.textBaseline = "middle";
  g.textAlign = "right";
  for (const [value, label] of vertical.ticks) {
    const y = Math.round(f.y(value)) + 0.5;
    if (y < f.top - 1 || y > f.bottom + 1) continue;
    line(g, f.left, y, f.right, y);
    g.fillText(label, f.left - 6, clamp(y, f.top + 4, f.bottom - 2));
  }
  g.textAlign = "left";
  if (vertical.note) noteOn(f, vertical.note, f.left + 4, f.top + 5, "left");
  g.fillStyle = colours.soft;
  let free = -Infinity;
  for (const [value, label] of across.ticks) {
    const x = Math.round(f.x(value)) + 0.5, half = g.measureText(label).width / 2;
    line(g, x, f.bottom, x, f.bottom + 3);
    const at = clamp(x, f.left + half - 14, f.right - half + 6);
    if (!across.hidden && at - half > free + 8) {
      g.textAlign = "center";
      g.fillText(label, at, f.bottom + 12);
      free = at + half;
    }
  }
  if (across.note && !across.hidden) noteOn(f, across.note, f.right, f.bottom - 8, "right");
}

function noteOn({ g }, text, x, y, side) {
  const width = g.measureText(text).width;
  g.fillStyle = colours.page;
  g.globalAlpha = 0.8;
  g.fillRect(side === "left" ? x - 2 : x - width - 2, y - 7, width + 4, 14);
  g.globalAlpha = 1;
  g.fillStyle = colours.soft;
  g.textAlign = side;
  g.fillText(text, x, y);
}

function line(g, x0, y0, x1, y1) {
  g.beginPath();
  g.moveTo(x0, y0);
  g.lineTo(x1, y1);
  g.stroke();
}

function dot(g, x, y, radius) {
  g.beginPath();
  g.arc(x, y, radius, 0, 2 * Math.PI);
  g.fill();
}
