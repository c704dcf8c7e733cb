// The parts of the page that are our own: the bar, the console, the gallery, the keys.
// Run by the server in each window as a function body, with SETTINGS = {client, token, css} in front of it.
// Everything a person does here becomes one line of the console's language; the server does the rest.

const old = window.formiga;
if (old) old.close();

const icon = (path) => `<svg viewBox="0 0 20 20" width="18" height="18" fill="currentColor" aria-hidden="true"><path d="${path}"/></svg>`;
const ICONS = {
  worlds: icon("M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3zM11 11h6v6h-6z"), reset: icon("M4 4h2v12H4zM16 4v12L7 10z"),
  play: icon("M5 3l12 7-12 7z"), pause: icon("M5 3h4v14H5zM11 3h4v14h-4z"), step: icon("M4 4l9 6-9 6zM14 4h2v12h-2z"),
  record: icon("M10 4a6 6 0 1 0 .01 0z"), shell: icon("M2 4h16v12H2zm2 2v8h12V6zm1 1.5L8 10l-3 2.500z M9 12h5v1.500H9z"),
};

const host = document.createElement("div");
host.id = "formiga";
document.body.append(host);
const root = host.attachShadow({ mode: "open" });
root.innerHTML = `<style>${SETTINGS.css}</style>
<section id="console" hidden aria-label="console">
  <div id="log" role="log"></div>
  <div id="completions"></div>
  <form id="prompt"><span>&gt;</span><input id="input" autocomplete="off" spellcheck="false" aria-label="console input"
    placeholder="a command; help lists them, Tab completes"></form>
</section>
<div id="flash" aria-live="polite"></div>
<div id="faults" role="alert" hidden></div>
<nav id="bar" aria-label="transport">
  <button id="worlds" title="all worlds">${ICONS.worlds}</button>
  <button id="reset" title="start again, same seed (R)">${ICONS.reset}</button>
  <button id="play" title="play or pause (Space)">${ICONS.play}</button>
  <button id="step" title="one step (.)">${ICONS.step}</button>
  <select id="speed" title="simulated seconds per second">
    <option value="0.1">0.1×</option><option value="0.25">0.25×</option><option value="0.5">0.5×</option>
    <option value="1" selected>1×</option><option value="2">2×</option><option value="5">5×</option>
    <option value="10">10×</option><option value="50">50×</option><option value="max">max</option>
  </select>
  <span id="clock" title="simulated time">0.0 s</span>
  <input id="timeline" type="range" min="0" max="1" step="any" value="0" hidden aria-label="timeline">
  <span id="factor" title="simulated seconds per second, as achieved"></span>
  <button id="record" title="record">${ICONS.record}</button>
  <button id="shell" title="console (\`)">${ICONS.shell}</button>
</nav>
<div id="name"></div>
<section id="note" hidden aria-label="scoreboard">
  <div id="sides"></div>
  <div id="when"><span id="title"></span><span id="note-clock"></span></div>
  <div id="remark" role="status"></div>
</section>
<dialog id="gallery" aria-label="worlds"><header><h1>formiga</h1><p>Choose a world.</p><button id="close" title="close">✕</button></header>
  <div id="cards"></div></dialog>
<section id="ended" role="alertdialog" aria-label="the laboratory has ended" hidden><div>
  <h1>The laboratory has ended</h1>
  <p>Nothing answers at <b>${window.location.host}</b> any more. What you see is the last picture.</p>
  <p>Start it again in a terminal with <code>formiga view</code>; if it has the same address, this page goes on by itself.</p>
</div></section>`;
document.title = "formiga";
const $ = (id) => root.getElementById(id);

// -- the line -----------------------------------------------------------------------------------------------------
const listeners = {}, early = [];  // of open.js, draw.js and export.js: a part of a message -> what hears it; what takes keys first
let line = null, closed = false, again = 0, bound = new Set(), status = {};
function connect() {
  const address = new URL(`/line?client=${SETTINGS.client}&token=${SETTINGS.token}`, window.location.href);
  address.protocol = address.protocol.replace("http", "ws");
  line = new WebSocket(address, [`viser-v${SETTINGS.version}`]);
  line.onmessage = (event) => hear(JSON.parse(event.data));
  line.onclose = () => { host.dataset.line = "closed"; if (!closed) { $("ended").hidden = false; again = setTimeout(connect, 3000); } };
  line.onopen = () => { host.dataset.line = "open"; $("ended").hidden = true; };
}
const send = (message) => { if (line && line.readyState === WebSocket.OPEN) line.send(JSON.stringify(message)); };
const run = (text) => send({ run: text });

function hear(message) {
  if ("status" in message) show(message.status);
  if ("say" in message) print(message.say, message.kind);
  if ("past" in message) { $("log").replaceChildren(); for (const [kind, text] of message.past) print(text, kind, true); }
  if ("faults" in message) faults(message.faults);
  if ("keys" in message) bound = new Set(message.keys);
  if ("words" in message) offer(message.complete, message.words, message.from);
  if ("gallery" in message) fill(message.gallery);
  for (const part in message) if (listeners[part]) listeners[part](message[part]);
  if ("open" in message) { if (message.open === "gallery") gallery(true); else shell(true); }
}

// -- the bar ------------------------------------------------------------------------------------------------------
let scrubbing = false;
function show(now) {
  status = now;
  host.dataset.step = now.step;
  if (host.dataset.playing !== String(now.playing)) $("play").innerHTML = now.playing ? ICONS.pause : ICONS.play;
  host.dataset.playing = now.playing;
  $("clock").textContent = now.length === null ? `${now.time.toFixed(1)} s` : `${now.time.toFixed(1)} / ${now.length.toFixed(1)} s`;
  $("factor").textContent = now.playing ? `${now.factor < 10 ? now.factor.toFixed(1) : Math.round(now.factor)}× real time` : "paused";
  $("record").classList.toggle("on", now.recording);
  $("record").hidden = now.length !== null;
  $("timeline").hidden = now.length === null;
  if (now.length !== null && !scrubbing) { $("timeline").max = now.length; $("timeline").value = now.time; }
  if (root.activeElement !== $("speed")) choose(now.speed);
  $("name").textContent = `${now.world}${now.recordingFile ? " (recording)" : ""} · ${now.robots} ${now.robots === 1 ? "robot" : "robots"} · seed ${now.seed}`;
  document.title = `${now.world} - formiga`;
  host.dataset.dark = now.dark;
  note(now.note);
  faults(now.faults);
  panel();
}
// What failed in the laboratory itself stays in sight.
function faults(now) {
  $("faults").hidden = !now;
  if (!now) return;
  const text = `${now.count === 1 ? "Something failed" : `${now.count} failures`} in the laboratory: ${now.text}`;
  if ($("faults").textContent !== text) $("faults").textContent = text;
}
// -- what a supervisor shows: its remark stays for a few seconds, longer if it is still said ------------------------------
let remark = "", fading = 0;
function note(now) {
  $("note").hidden = !now;
  host.dataset.note = Boolean(now);
  if (!now) return;
  sides(now.sides);
  $("title").textContent = now.title;
  $("note-clock").textContent = now.clock;
  $("note-clock").hidden = !now.clock;
  $("when").hidden = !now.title && !now.clock;
  if (now.text === remark) return;
  remark = now.text;
  clearTimeout(fading);
  if (remark) { $("remark").textContent = remark; $("remark").classList.add("on"); }
  else fading = setTimeout(() => $("remark").classList.remove("on"), 2500);
}
// Two sides face each other, name and score : score and name; any other number stands in a row, a name and a score each.
function sides(now) {
  const row = $("sides"), facing = now.length === 2;
  row.hidden = now.length === 0;
  if (row.children.length !== (facing ? 5 : 2 * now.length)) {
    const made = now.flatMap((_, number) => [piece("span", "side", number), piece("b", "score", number)]);
    row.replaceChildren(...(facing ? [made[0], made[1], Object.assign(document.createElement("i"), { textContent: ":" }), made[3], made[2]] : made));
    row.classList.toggle("facing", facing);
  }
  for (const [number, side] of now.entries()) {
    const name = $(`side-${number}`), shown = $(`score-${number}`), score = String(side.score);
    name.textContent = name.title = side.name;
    name.style.setProperty("--side", side.colour);
    if (shown.textContent !== score) {
      if (shown.textContent !== "") shown.animate([{ transform: "scale(1.5)" }, { transform: "scale(1)" }], { duration: 900, easing: "ease-out" });
      shown.textContent = score;
    }
  }
}
const piece = (tag, kind, number) => Object.assign(document.createElement(tag), { className: kind, id: `${kind}-${number}` });
function choose(speed) {
  const select = $("speed");
  if (![...select.options].some((each) => each.value === speed))
    select.add(new Option(`${speed}×`, speed));
  select.value = speed;
}
$("play").onclick = () => run(status.playing ? "pause on" : "pause off");
$("step").onclick = () => run("step");
$("reset").onclick = () => run("reset");
$("speed").onchange = (event) => { run(`speed ${event.target.value}`); event.target.blur(); };
$("record").onclick = () => run(status.recording ? "record off" : "record");
$("timeline").oninput = (event) => { scrubbing = true; run(`seek ${event.target.value}`); };
$("timeline").onchange = () => { scrubbing = false; };
$("shell").onclick = () => shell();
$("worlds").onclick = () => gallery();

// -- the console --------------------------------------------------------------------------------------------------
const history = JSON.parse(localStorage.getItem("formiga.history") || "[]");
let at = history.length;
const OFFERED = 60;  // completions that are shown
function shell(open = $("console").hidden) {
  $("console").hidden = !open;
  if (open) { $("input").focus(); $("log").scrollTop = $("log").scrollHeight; } else $("input").blur();
}
// A line of two columns, such as those of `help`, keeps them apart however narrow the console is.
function print(text, kind, old = false) {
  const each = document.createElement("pre");
  each.className = kind;
  const columns = kind === "out" && /^(\S.*?) {2,}(\S.*)$/.exec(text);
  if (columns) {
    each.classList.add("columns");
    for (const part of columns.slice(1)) each.append(Object.assign(document.createElement("span"), { textContent: part }));
  } else each.textContent = text;
  $("log").append(each);
  while ($("log").childElementCount > 500) $("log").firstChild.remove();
  $("log").scrollTop = $("log").scrollHeight;
  if (!old && kind !== "echo" && $("console").hidden) flash(text, kind);
}
// What is said while the console is closed appears above the bar for a while: the last few lines.
function flash(text, kind) {
  const note = document.createElement("div");
  note.className = kind;
  note.textContent = text;
  $("flash").append(note);
  while ($("flash").childElementCount > 3) $("flash").firstChild.remove();
  setTimeout(() => note.remove(), kind === "error" ? 10000 : 7000);
}
function offer(text, found, from) {
  if ($("input").value !== text) return;
  const typed = text.slice(from);
  if (found.length === 0) return;
  let common = found[0];
  for (const word of found) while (!word.startsWith(common)) common = common.slice(0, -1);
  if (common.length > typed.length || found.length === 1)
    $("input").value = text.slice(0, from) + common + (found.length === 1 ? " " : "");
  const words = found.length > 1 ? found.slice(0, OFFERED) : [];
  $("completions").replaceChildren(...words.map((word) => Object.assign(document.createElement("span"), { textContent: word })));
  if (found.length > OFFERED) $("completions").append(`and ${found.length - OFFERED} more; type another letter`);
}
$("prompt").onsubmit = (event) => {
  event.preventDefault();
  const text = $("input").value.trim();
  $("input").value = ""; $("completions").replaceChildren();
  if (!text) return;
  if (history[history.length - 1] !== text) history.push(text);
  at = history.length;
  localStorage.setItem("formiga.history", JSON.stringify(history.slice(-200)));
  print(text, "echo");
  run(text);
};
$("input").onkeydown = (event) => {
  if (event.key === "Tab") { event.preventDefault(); send({ complete: $("input").value }); }
  else if (event.key === "Escape" || event.key === "`") { event.preventDefault(); shell(false); }
  else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    event.preventDefault();
    at = Math.max(0, Math.min(history.length, at + (event.key === "ArrowUp" ? -1 : 1)));
    $("input").value = history[at] || "";
  }
};

// -- the gallery --------------------------------------------------------------------------------------------------
function gallery(open = !$("gallery").open) {
  if (!open) return $("gallery").close();
  send({ gallery: true });
  if (!$("gallery").open) $("gallery").showModal();
}
function fill(topics) {
  $("cards").replaceChildren(...topics.flatMap((topic) => {
    const title = document.createElement("h2");
    title.textContent = topic.name;
    const grid = document.createElement("div");
    grid.className = "grid";
    for (const world of topic.worlds) {
      const card = document.createElement("button");
      card.className = "card";
      card.dataset.world = world.name;
      const picture = document.createElement(world.picture ? "img" : "div");
      if (world.picture) { picture.src = world.picture; picture.alt = ""; }
      const name = document.createElement("h3"), doc = document.createElement("p");
      name.textContent = world.name;
      doc.textContent = world.doc;
      card.append(picture, name, doc);
      card.onclick = () => { $("gallery").close(); run(`load ${world.name}; pause off`); };
      grid.append(card);
    }
    return [title, grid];
  }));
}
$("close").onclick = () => gallery(false);
$("gallery").onclick = (event) => { if (event.target === $("gallery")) gallery(false); };

// -- keys: before viser sees them, so that a bound key does not also fly the camera --------------------------------
const held = new Map();
function with_(event, name, shifted) {
  return (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + (event.altKey ? "Alt+" : "") + (shifted ? "Shift+" : "") + name;
}
function keyName(event) {
  let name = event.key === " " ? "Space" : event.key;
  if (/^Key[A-Z]$/.test(event.code) && name.length === 1) name = name.toLowerCase();
  return with_(event, name, event.shiftKey && (name.length > 1 || /^[a-z]$/.test(name)));
}
function typing(event) {
  const target = event.composedPath()[0];
  return target instanceof HTMLElement && (target.isContentEditable || target.tagName === "TEXTAREA" || target.tagName === "SELECT" ||
    (target.tagName === "INPUT" && target.type !== "range" && target.type !== "checkbox"));
}
function down(event) {
  if (typing(event) || root.querySelector("dialog[open]")) return;
  if (early.some((takes) => takes(event))) { event.preventDefault(); event.stopImmediatePropagation(); return; }
  if (event.key === "`") { event.preventDefault(); event.stopImmediatePropagation(); return shell(); }
  const name = keyName(event);
  if (!bound.has(name)) {
    if (/^([wasdqe]|Arrow.*)$/.test(name)) send({ turned: true });  // viser flies the camera with these
    return;
  }
  event.preventDefault(); event.stopImmediatePropagation();
  if (root.activeElement) root.activeElement.blur();  // or Space would press the button that was clicked last
  if (event.repeat || held.has(event.code)) return;
  held.set(event.code, name);
  send({ press: name });
}
function up(event) {
  const name = held.get(event.code);
  if (name === undefined) return;
  event.preventDefault(); event.stopImmediatePropagation();
  held.delete(event.code);
  send({ release: name });
}
function blur() {
  if (held.size) send({ blur: true });
  held.clear();
}
window.addEventListener("keydown", down, true);
window.addEventListener("keyup", up, true);
window.addEventListener("blur", blur);
// To a listener outside, what is typed in here comes from a <div>, so viser would fly the camera with it.
for (const kind of ["keydown", "keypress", "keyup"])
  root.addEventListener(kind, (event) => { if (typing(event)) event.stopPropagation(); });

// -- mouse buttons: one that is bound does nothing else in the scene ------------------------------------------------
const BUTTONS = ["MouseLeft", "MouseMiddle", "MouseRight", "MouseBack", "MouseForward"];
function button(event) {
  const base = event.type === "contextmenu" ? "MouseRight" : BUTTONS[event.button];
  if (event.type === "mouseup" && held.has(base)) { const name = held.get(base); held.delete(base); send({ release: name }); return; }
  const name = with_(event, base, event.shiftKey);
  if (!(event.target instanceof HTMLCanvasElement) || !bound.has(name)) return;
  event.stopImmediatePropagation();
  if (event.type !== "pointerdown") event.preventDefault();  // of a pointerdown, that would keep the mousedown away
  if (event.type !== "mousedown" || held.has(base)) return;
  held.set(base, name);
  send({ press: name });
}
const CLICKS = ["pointerdown", "mousedown", "mouseup", "click", "auxclick", "contextmenu"];
for (const kind of CLICKS) window.addEventListener(kind, button, true);

// Whether a person has turned the camera: until then the whole world is kept in sight when the window changes.
const TURNS = ["wheel", "pointermove"];
let told = 0;
function turned(event) {
  const turns = event.target instanceof HTMLCanvasElement && (event.type === "wheel" || event.buttons);
  if (!turns || performance.now() - told < 500) return;
  told = performance.now();
  send({ turned: true });
}
for (const kind of TURNS) window.addEventListener(kind, turned, { capture: true, passive: true });

// On a phone viser's panel lies over the bottom of the scene, as the bar does: it goes above the bar, and begins closed.
let tidied = null;
function panel() {
  const found = [...document.querySelectorAll("#root .mantine-Paper-root")].find((each) => getComputedStyle(each).position === "fixed");
  if (!found || found === tidied) return;
  tidied = found;
  found.classList.add("formiga-sheet");
  found.querySelector("[style*='cursor: pointer']")?.click();
}

// The bar stands in the middle of the scene, whatever the panel beside it takes.
function middle() {
  const scene = document.querySelector("canvas")?.getBoundingClientRect();
  if (!scene || !scene.width) return;
  host.style.setProperty("--middle", `${scene.left + scene.width / 2}px`);
  host.style.setProperty("--width", `${scene.width}px`);
  $("bar").classList.toggle("narrow", scene.width < 620);
  $("name").classList.toggle("narrow", scene.width < 860);
  const above = `${Math.ceil(window.innerHeight - $("bar").getBoundingClientRect().top + 8)}px`;
  host.style.setProperty("--above", above);
  document.documentElement.style.setProperty("--formiga-above", above);
  const tall = $("console").hidden ? 0 : $("console").offsetHeight + 8;  // what stands over the bar stands over the console, too
  host.style.setProperty("--over", `calc(${above} + ${tall}px)`);
}
const watcher = new ResizeObserver(middle);
const scene = document.querySelector("canvas");
if (scene) watcher.observe(scene);
watcher.observe($("bar"));
watcher.observe($("console"));
const outside = document.createElement("style");  // of viser's own parts
outside.textContent = `.formiga-sheet { bottom: var(--formiga-above, 66px) !important; right: 8px !important; left: 8px !important; width: auto !important;
  max-height: 46vh !important; border-radius: 12px !important; } .formiga-sheet * { max-width: 100%; }
  .formiga-sheet [style*="width: 20em"] { width: 100% !important; }
  .mantine-Notifications-root[data-position=top-left] { top: 56px !important; }`;
document.head.append(outside);
middle();

window.formiga = {
  get keys() { return [...bound].sort(); },
  close() {
    closed = true;
    clearTimeout(again);
    watcher.disconnect();
    outside.remove();
    for (const kind of TURNS) window.removeEventListener(kind, turned, { capture: true });
    window.removeEventListener("keydown", down, true);
    window.removeEventListener("keyup", up, true);
    for (const kind of CLICKS) window.removeEventListener(kind, button, true);
    window.removeEventListener("blur", blur);
    if (line) line.close();
    host.remove();
  },
};
connect();
