// Drawing with the mouse: a palette, and a sheet over the scene that takes the pointer while a tool is chosen.
// Each stroke becomes one line of the console's language, such as `spawn wall 'points=0 0 1 0'`, so `undo` takes it back.

const TOOLS = {
  select: ["select, drag, turn the view (Esc)", "M4 2l11 8-5 1 3 5-2 1-3-5-4 3z"],
  wall: ["wall: drag from one end to the other; Shift: straight", "M2 15L15 2l3 3L5 18z"],
  box: ["box: drag from corner to corner", "M3 5h14v10H3z"],
  cylinder: ["cylinder: press in its middle, drag to its rim", "M10 3a7 7 0 1 0 .01 0z"],
  lamp: ["lamp: click", "M10 2a6 6 0 0 1 3 11v2H7v-2a6 6 0 0 1 3-11zM7 16h6v2H7z"],
  robot: ["robot: press where it stands, drag where it looks", "M10 3a7 7 0 1 0 .01 0zm0 3l4 8-4-2-4 2z"],
};
const palette = document.createElement("nav");
palette.id = "tools";
palette.setAttribute("aria-label", "tools");
palette.innerHTML = Object.entries(TOOLS).map(([name, [title, path]]) =>
  `<button data-tool="${name}" title="${title}" aria-label="${name}">${icon(path)}</button>`).join("") +
  `<select id="group" title="robots of this group" hidden></select>
   <button id="undo" title="undo (Ctrl+z)" aria-label="undo">${icon("M8 3L2 8l6 5v-3c5 0 7 1 9 5 0-6-3-9-9-9z")}</button>`;
const sheet = document.createElement("div");
sheet.id = "sheet";
sheet.hidden = true;
sheet.innerHTML = `<svg width="100%" height="100%"><path id="stroke"/></svg><div id="size"></div>`;
root.append(sheet, palette);

let tool = "select", stroke = null, groups = "";
function take(name) {
  tool = name;
  stroke = null;
  sheet.hidden = name === "select";
  for (const each of palette.querySelectorAll("[data-tool]")) each.setAttribute("aria-pressed", each.dataset.tool === name);
  $("group").hidden = name !== "robot" || $("group").options.length < 2;
  preview();
}
for (const each of palette.querySelectorAll("[data-tool]")) each.onclick = () => take(each.dataset.tool === tool ? "select" : each.dataset.tool);
$("undo").onclick = () => run("undo");
listeners.status = (now) => {
  palette.hidden = !now.editable;
  if (!now.editable && tool !== "select") take("select");
  const known = now.groups.join("\n");
  if (known === groups) return;
  groups = known;
  $("group").replaceChildren(...now.groups.map((name) => new Option(name, name)));
  palette.querySelector("[data-tool=robot]").hidden = now.groups.length === 0;
};

// -- the camera of this window, as the server knows it: from a pixel to the floor, and back -------------------------
const canvas = () => document.querySelector("canvas").getBoundingClientRect();
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
function onFloor([px, py], eye) {
  const box = canvas(), u = (2 * (px - box.left) / box.width - 1) * eye.wide, v = (1 - 2 * (py - box.top) / box.height) * eye.tall;
  const ray = eye.ahead.map((each, k) => each + u * eye.right[k] + v * eye.up[k]);
  if (ray[2] > -1e-6) return null;                       // above the horizon
  const far = -eye.place[2] / ray[2];
  return [eye.place[0] + far * ray[0], eye.place[1] + far * ray[1]];
}
function onScreen([x, y], eye) {
  const box = canvas(), away = [x - eye.place[0], y - eye.place[1], -eye.place[2]], deep = Math.max(dot(away, eye.ahead), 1e-6);
  return [(dot(away, eye.right) / deep / eye.wide + 1) / 2 * box.width, (1 - dot(away, eye.up) / deep / eye.tall) / 2 * box.height];
}

// -- strokes ----------------------------------------------------------------------------------------------------------
const cm = (metres) => Math.round(100 * metres) / 100;
function shape() {
  if (!stroke || !stroke.eye) return null;
  let from = onFloor(stroke.from, stroke.eye), to = onFloor(stroke.to, stroke.eye);
  if (!from || !to) return null;
  from = from.map(cm); to = to.map(cm);
  if (stroke.straight && tool === "wall") to = Math.abs(to[0] - from[0]) > Math.abs(to[1] - from[1]) ? [to[0], from[1]] : [from[0], to[1]];
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]], long = cm(Math.hypot(dx, dy)), click = long < 0.02, [x, y] = from;
  const circle = (radius) => Array.from({ length: 49 }, (_, k) => [x + radius * Math.cos(k * Math.PI / 24), y + radius * Math.sin(k * Math.PI / 24)]);
  if (tool === "wall") return { outline: [from, to], size: `${long.toFixed(2)} m`, line: click ? "" : `spawn wall 'points=${x} ${y} ${to[0]} ${to[1]}'` };
  if (tool === "box") {
    const wide = click ? 0.2 : Math.abs(dx), deep = click ? 0.2 : Math.abs(dy), mx = click ? x : x + dx / 2, my = click ? y : y + dy / 2;
    const outline = [[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]].map(([a, b]) => [mx + a * wide / 2, my + b * deep / 2]);
    const line = wide < 0.005 || deep < 0.005 ? "" : `spawn rectangle ${mx.toFixed(4)} ${my.toFixed(4)} width=${wide.toFixed(3)} depth=${deep.toFixed(3)}`;
    return { outline, size: `${wide.toFixed(2)} × ${deep.toFixed(2)} m`, line };
  }
  if (tool === "cylinder") {
    const radius = click ? 0.08 : long;
    return { outline: circle(radius), size: `radius ${radius.toFixed(2)} m`, line: `spawn cylinder ${x} ${y} radius=${radius}` };
  }
  if (tool === "lamp") return { outline: circle(0.05), size: "", line: `spawn lamp ${x} ${y} z=30cm` };
  const turn = click ? 0 : Math.atan2(dy, dx);
  return { outline: [...circle(0.06), from, ...(click ? [] : [to])], size: `${Math.round(turn * 180 / Math.PI)}°`,
    line: `spawn ${quoted($("group").value)} ${x} ${y} ${turn.toFixed(4)}` };
}
function preview() {
  const now = shape();
  $("stroke").setAttribute("d", now ? now.outline.map((point, k) => `${k ? "L" : "M"}${onScreen(point, stroke.eye).map((each) => each.toFixed(1)).join(" ")}`).join("") : "");
  $("size").textContent = now ? now.size : "";
  if (now) { const box = canvas(); $("size").style.transform = `translate(${stroke.to[0] - box.left + 14}px, ${stroke.to[1] - box.top + 10}px)`; }
}
function finish() {
  const now = shape();
  if (now && now.line) run(now.line);
  stroke = null;
  preview();
}
listeners.eye = (eye) => {
  if (!stroke) return;
  stroke.eye = eye;
  if (stroke.done) finish(); else preview();
};
sheet.onpointerdown = (event) => {
  if (event.button !== 0) return;
  sheet.setPointerCapture(event.pointerId);
  stroke = { from: [event.clientX, event.clientY], to: [event.clientX, event.clientY], eye: null, done: false };
  send({ eye: true });
};
sheet.onpointermove = (event) => {
  if (!stroke || stroke.done) return;
  stroke.to = [event.clientX, event.clientY];
  stroke.straight = event.shiftKey;
  preview();
};
sheet.onpointerup = () => {
  if (!stroke) return;
  stroke.done = true;
  if (stroke.eye) finish();
};
sheet.oncontextmenu = (event) => event.preventDefault();
sheet.onwheel = (event) => document.querySelector("canvas").dispatchEvent(new WheelEvent("wheel", event));
early.push((event) => {
  if (event.key !== "Escape" || tool === "select") return false;
  take("select");
  return true;
});
take("select");
