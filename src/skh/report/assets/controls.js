// Mouse, fingers, keys and choices.

const LEAST_DRAG = 5; // pixels; less is a click

function timeAt(canvas, clientX) {
  const box = canvas.getBoundingClientRect();
  const share = (clientX - box.left - GUTTER) / (box.width - GUTTER - MARGIN.right);
  return view.low + clamp(share, 0, 1) * (view.high - view.low);
}

for (const canvas of document.querySelectorAll("canvas.time")) {
  const fingers = new Map();
  let start = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event.clientX);
    if (event.pointerType === "mouse") start = event.clientX;
    else if (fingers.size === 1) change({ step: nearestStep(timeAt(canvas, event.clientX)) });
  });
  canvas.addEventListener("pointermove", (event) => {
    const time = timeAt(canvas, event.clientX);
    if (event.pointerType !== "mouse") touched(event);
    else if (start === null) {
      if (!view.held) change({ step: nearestStep(time) });
    } else if (Math.abs(event.clientX - start) > LEAST_DRAG) {
      change({ selection: [timeAt(canvas, start), time] });
    }
  });
  const touched = (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = [...fingers.values()];
    fingers.set(event.pointerId, event.clientX);
    const now = [...fingers.values()];
    if (now.length === 1) change({ step: nearestStep(timeAt(canvas, now[0])) });
    if (now.length === 2) pinch(before, now);
  };
  // The times under both fingers stay under them.
  const pinch = (before, now) => {
    const [a, b] = [Math.abs(before[0] - before[1]), Math.abs(now[0] - now[1])];
    if (a < 10 || b < 10) return;
    const middle = (before[0] + before[1]) / 2, moved = (now[0] + now[1]) / 2 - middle;
    zoom(a / b, timeAt(canvas, middle));
    pan(-moved * (view.high - view.low) / (canvas.clientWidth - GUTTER - MARGIN.right));
  };
  const end = (event) => {
    fingers.delete(event.pointerId);
    if (event.pointerType !== "mouse" || start === null) return;
    const selected = view.selection;
    start = null;
    change({ selection: null });
    if (event.type === "pointercancel") return;
    if (selected) show(Math.min(...selected), Math.max(...selected));
    else change({ held: !view.held, step: nearestStep(timeAt(canvas, event.clientX)) });
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("dblclick", reset);
  canvas.addEventListener("wheel", (event) => {
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(clamp(event.deltaY, -100, 100) / 300), timeAt(canvas, event.clientX));
    else if (sideways && !isWhole()) pan((event.deltaX || event.deltaY) / canvas.clientWidth * (view.high - view.low));
    else return;
    event.preventDefault();
  }, { passive: false });
}

const middleOfView = () => {
  const time = run.times[view.step];
  return time >= view.low && time <= view.high ? time : (view.low + view.high) / 2;
};
const span = () => view.high - view.low;
byId("in").addEventListener("click", () => zoom(0.5, middleOfView()));
byId("out").addEventListener("click", () => zoom(2, middleOfView()));
byId("earlier").addEventListener("click", () => pan(-0.5 * span()));
byId("later").addEventListener("click", () => pan(0.5 * span()));
byId("all").addEventListener("click", reset);

byId("track").addEventListener("pointerdown", (event) => {
  const track = byId("track"), box = track.getBoundingClientRect();
  const centre = (e) => {
    const time = whole[0] + (e.clientX - box.left) / box.width * (whole[1] - whole[0]);
    pan(time - (view.low + view.high) / 2);
  };
  track.setPointerCapture(event.pointerId);
  centre(event);
  track.onpointermove = centre;
  track.onpointerup = track.onpointercancel = () => { track.onpointermove = null; };
});

// Left and right work anywhere but in fields that use them; the other keys on the chart only.
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("select, input")) return;
  const far = Math.max(1, Math.round((stepsInView()[1] - stepsInView()[0]) / 10));
  const anywhere = {
    ArrowLeft: () => moveTo(view.step - (event.shiftKey ? far : 1)),
    ArrowRight: () => moveTo(view.step + (event.shiftKey ? far : 1)),
    Escape: () => change({ held: false }),
  };
  const here = {
    ArrowDown: anywhere.ArrowLeft, ArrowUp: anywhere.ArrowRight,
    Home: () => moveTo(0), End: () => moveTo(run.T - 1),
    PageUp: () => moveTo(view.step + far), PageDown: () => moveTo(view.step - far),
    "+": () => zoom(0.5, middleOfView()), "-": () => zoom(2, middleOfView()), 0: reset,
  };
  const action = anywhere[event.key] || (event.target === byId("state") && here[event.key]);
  if (!action) return;
  if (event.key !== "Escape") change({ held: true }); // or the resting mouse would take it back
  action();
  event.preventDefault();
});

byId("coordinate").addEventListener("change", (event) => {
  const j = Number(event.target.value);
  if (j < run.d && (picked.against === WEIGHTS || picked.against !== j)) picked.across = j;
  byId("across").value = picked.across;
  change({ j });
});
for (const name of ["across", "against"]) {
  byId(name).addEventListener("change", (event) => {
    picked[name] = Number(event.target.value);
    change({});
  });
}
byId("focus").addEventListener("change", (event) => {
  picked.focus = event.target.checked;
  change({});
});
for (const kind of ["pointermove", "pointerdown", "pointerleave"]) {
  byId("cloud").addEventListener(kind, (event) => {
    picked.near = kind === "pointerleave" ? null : nearestParticle(event.offsetX, event.offsetY);
    change({});
  });
}
byId("steps").addEventListener("toggle", () => change({}));

// A chooser of the observed number, if there are several.
if (run.rows > 1) {
  const choice = element("select");
  choice.id = "observed-row";
  choice.setAttribute("aria-label", "observed number");
  run.observedNames.forEach((name, j) => choice.append(new Option(name, j)));
  choice.addEventListener("change", () => change({ observed: Number(choice.value) }));
  byId("observed-value").before(choice, " ");
}

byId("against").value = picked.against;
const slider = byId("state");
slider.setAttribute("aria-valuemin", 0);
slider.setAttribute("aria-valuemax", run.T - 1);
if (!run.particles) {
  byId("cloud").replaceWith(element("p", "The particles of each step were not kept: particle_filter(..., history=True) keeps them.", "note"));
  for (const id of ["pickers", "cloud-legend", "particle"]) byId(id).hidden = true;
}
if (run.d === 1) byId("against").closest("label").hidden = byId("across").closest("label").hidden = true;

addEventListener("resize", () => change({}));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColours();
  layers.clear();
  change({});
});
change({});
