// Opening files: recent ones in the gallery, and a dialog that walks through the folder in which the server was started.
// It lists, and `load` opens: a world or a recording is data, and no code in it is run.

const quoted = (text) => `"${text.replace(/[\\"$]/g, "\\$&").replace(/\n/g, "\\n")}"`;
// A file of the gallery: it closes, and what is wrong is said above the bar. The dialog stays until a file has been opened.
const openRecent = (path) => { for (const each of root.querySelectorAll("dialog[open]")) each.close(); run(`load ${quoted(path)}; pause off`); };

const opener = document.createElement("dialog");
opener.id = "open";
opener.setAttribute("aria-label", "open a file");
opener.innerHTML = `<header><h1>Open</h1><p id="folder"></p><button id="open-close" class="close" title="close">✕</button></header>
  <form id="path"><input id="path-input" autocomplete="off" spellcheck="false" aria-label="path of a file"
    placeholder="path of a world (.xml) or a recording (.parquet)"><button>Open</button></form>
  <p id="open-error" role="status"></p><div id="entries"></div>`;
root.append(opener);

function row(entry, act) {
  const each = document.createElement("button"), name = document.createElement("b"), about = document.createElement("span");
  each.className = `file ${entry.kind}`;
  each.dataset.path = entry.path;
  name.textContent = entry.name;
  about.textContent = entry.kind === "folder" ? "" : `${entry.kind} · ${entry.about}`;
  each.append(name, about);
  each.onclick = act;
  return each;
}
function openDialog() {
  send({ folder: "" });
  if (!opener.open) opener.showModal();
  $("path-input").focus();
}
listeners.listing = (now) => {
  $("folder").textContent = now.folder ? `in ${now.folder}` : "in the folder where the laboratory was started";
  $("open-error").classList.remove("wrong");
  $("open-error").textContent = now.error || (now.entries.length ? "" : "no worlds and no recordings here");
  const rows = now.entries.map((entry) => row(entry, () => entry.kind === "folder" ? send({ folder: entry.path }) : openFile(entry.path)));
  if (now.above !== null) rows.unshift(row({ name: "..", path: now.above, kind: "folder" }, () => send({ folder: now.above })));
  $("entries").replaceChildren(...rows);
};
function openFile(path) {
  $("open-error").classList.remove("wrong");
  $("open-error").textContent = `opening ${path} …`;
  send({ load: path });
}
listeners.loaded = (now) => {
  if (!now.error) { for (const each of root.querySelectorAll("dialog[open]")) each.close(); return; }
  $("open-error").classList.add("wrong");
  $("open-error").textContent = now.error;
};
listeners.recent = (files) => {
  const title = document.createElement("h2"), list = document.createElement("div"), other = document.createElement("button");
  title.textContent = "Your files";
  list.id = "recent";
  other.id = "open-file";
  other.className = "file";
  other.innerHTML = "<b>Open a file …</b><span>a world or a recording</span>";
  other.onclick = openDialog;
  list.append(other, ...files.map((entry) => row(entry, () => openRecent(entry.path))));
  $("cards").prepend(title, list);
};
$("path").onsubmit = (event) => {
  event.preventDefault();
  if ($("path-input").value.trim()) openFile($("path-input").value.trim());
};
$("open-close").onclick = () => opener.close();
opener.onclick = (event) => { if (event.target === opener) opener.close(); };
