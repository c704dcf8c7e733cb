// Papers: the second half of the gallery, and the page of each one. The server renders both, with all text of files escaped;
// here they get what a click does.

const halves = document.createElement("nav");
halves.id = "halves";
halves.setAttribute("role", "tablist");
halves.innerHTML = ["worlds", "papers"].map((name) =>
  `<button role="tab" id="tab-${name}" data-half="${name}" aria-controls="${name === "worlds" ? "cards" : "papers"}">${name[0].toUpperCase()}${name.slice(1)} <span></span></button>`).join("");
$("gallery").querySelector("header p").replaceWith(halves);
const shelf = document.createElement("div");
shelf.id = "papers";
shelf.className = "grid";
shelf.setAttribute("role", "tabpanel");
shelf.setAttribute("aria-labelledby", "tab-papers");
$("cards").setAttribute("role", "tabpanel");
$("cards").setAttribute("aria-labelledby", "tab-worlds");
$("cards").after(shelf);
function half(name) {
  $("cards").hidden = name !== "worlds";
  shelf.hidden = name !== "papers";
  for (const each of halves.children) {
    const chosen = each.dataset.half === name;
    each.setAttribute("aria-selected", chosen);
    each.tabIndex = chosen ? 0 : -1;
  }
  $("gallery").scrollTop = 0;
}
for (const each of halves.children) each.onclick = () => half(each.dataset.half);
halves.onkeydown = (event) => {
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
  const other = [...halves.children].find((each) => each.tabIndex < 0);
  half(other.dataset.half);
  other.focus();
};
half("worlds");

const sheetOf = document.createElement("dialog");  // the page of a paper lies over the gallery; closed, it leaves that as it was
sheetOf.id = "paper";
sheetOf.setAttribute("aria-label", "a paper");
sheetOf.innerHTML = `<header><button id="paper-back">‹ Papers</button><span></span><button id="paper-close" class="close" title="close">✕</button></header>
  <div id="paper-body"></div>`;
root.append(sheetOf);
listeners.papers = (papers) => {
  $("tab-worlds").lastChild.textContent = $("cards").querySelectorAll(".card").length;
  $("tab-papers").lastChild.textContent = papers.filter((paper) => paper.name).length;
  shelf.replaceChildren(...papers.map((paper) => {
    if (!paper.name) return Object.assign(document.createElement("p"), { className: "fault", textContent: paper.fault });
    const each = document.createElement("button");
    each.className = "card paper-card";
    each.dataset.paper = paper.name;
    each.innerHTML = paper.card;
    each.onclick = () => send({ paper: paper.name });
    return each;
  }));
};
listeners.paper = (paper) => {
  half("papers");
  sheetOf.setAttribute("aria-label", paper.title);
  $("paper-body").innerHTML = paper.article;
  for (const each of $("paper-body").querySelectorAll("[data-world]")) each.onclick = () => openRecent(each.dataset.world);
  if (halves.contains(root.activeElement)) $("tab-papers").focus();  // it has the focus again when the page is closed
  if (!sheetOf.open) sheetOf.showModal();
  sheetOf.scrollTop = 0;
  $("paper-back").focus();
};
$("paper-back").onclick = $("paper-close").onclick = () => sheetOf.close();
sheetOf.onclick = (event) => { if (event.target === sheetOf) sheetOf.close(); };
