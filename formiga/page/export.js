// An export while it is made: how far it is, and a button that stops it.

const exporting = document.createElement("div");
exporting.id = "exporting";
exporting.hidden = true;
exporting.innerHTML = `<span id="export-name"></span><progress id="export-done" max="1" value="0"></progress><span id="export-share"></span>
  <button id="export-stop" title="stop the export; nothing is written">stop</button>`;
root.append(exporting);
$("export-stop").onclick = () => run("export off");
listeners.exporting = (now) => {
  exporting.hidden = !now;
  host.dataset.exporting = Boolean(now);
  if (!now) return;
  $("export-name").textContent = now.file;
  $("export-done").value = now.share;
  $("export-share").textContent = now.share > 0 ? `${Math.round(100 * now.share)} %` : "begins";
};
