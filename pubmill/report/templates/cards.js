// The runs of a cell in a dialog; without this script the same text stands below the table.
const explain = document.querySelector(".page-body").dataset.explain;
const dialog = make("dialog");
dialog.setAttribute("aria-labelledby", "card-title");
document.body.append(dialog);

const placeFor = (link) => document.getElementById(link.hash.slice(1));
const runLinks = (card) => {
  for (const link of card.querySelectorAll("a[href^='#c']")) {
    const training = placeFor(link);
    const folder = `runs/${training.querySelector("code").textContent}/final`;
    let number = 0;
    for (const run of link.previousElementSibling.children) {
      number = run.hasAttribute("value") ? run.value : number + 1;
      const stem = `${folder}/seed-${number}`;
      const files = { record: `../${stem}.json`, predictions: `../${stem}.predictions.jsonl.gz`, log: `../logs/${stem}.log` };
      for (const [name, href] of Object.entries(files)) run.append(make("a", { href, textContent: name }));
    }
    link.replaceWith(...trainingParts(training, folder));
  }
};
const nameIn = (value) => value.textContent.split(" ")[0];
const trainingParts = (training, folder) => {
  const recipes = [...training.querySelectorAll("a")].map(placeFor);
  const parts = [make("p", {}, make("code", { textContent: folder }))];
  const course = training.querySelector("svg");
  if (course) {
    const names = ["the solid line is the score on dev", "the dashed line is the loss in training"];
    const drawn = names.filter((_, i) => course.children[i].getAttribute("d"));
    const key = drawn.length ? `Mean of the runs: ${drawn.join(", ")}.` : "";
    const said = make("p", { className: "small soft" }, training.lastChild.textContent.trim(), ". ", key);
    const larger = course.cloneNode(true);
    larger.setAttribute("viewBox", "0 0 120 36");
    const scales = course.dataset.y.split(";").map((ends, i) => {
      const [low, high] = ends.split(" ");
      return make("span", {}, ...(ends ? [high, make("small", { textContent: ["dev", "loss"][i] }), low] : []));
    });
    const below = make("small", { textContent: "first step to last" });
    parts.push(make("div", { className: "course-box" }, scales[0], larger, scales[1], below), said);
  }
  for (const recipe of recipes) {
    const values = make("p", { className: "small recipe" }, ...recipe.cloneNode(true).childNodes);
    const own = new Set([...values.children].map(nameIn));
    const usual = [...document.getElementById("r0").children].filter((one) => !own.has(nameIn(one)));
    const others = make("p", { className: "small recipe" }, "As in most runs: ");
    for (const one of usual) others.append(one.cloneNode(true), " ");
    parts.push(make("details", {}, make("summary", { textContent: "Recipe: hyper-parameters as resolved" }), values, others));
  }
  return parts;
};
const placeOf = (id) => {
  for (const grid of grids) {
    for (const row of grid.rows) {
      const i = row.cells.findIndex((cell) => cell.querySelector("a")?.hash === `#${id}`);
      if (i >= 0) return { grid, row, cell: row.cells[i], column: grid.columns[i] };
    }
  }
  return null;
};
const openCard = (id) => {
  const place = id && placeOf(id);
  if (!place) return false;
  const { grid, row, cell, column } = place;
  const card = document.getElementById(decodeURIComponent(id)).cloneNode(true);
  card.removeAttribute("id");
  runLinks(card);
  const shown = make("div", { className: "cell" }, ...cell.cloneNode(true).childNodes);
  for (const link of shown.querySelectorAll("a[href^='#']")) link.replaceWith(...link.childNodes);
  const title = make("h2", { id: "card-title", textContent: `${column.label}, ${row.label}` });
  const command = [explain, grid.table.dataset.table, row.head.dataset.key, column.head.dataset.key].join(" ");
  const more = make("p", { className: "small" }, "Where it comes from, down to the source files: ");
  more.append(make("code", { textContent: command }));
  const steps = [["Previous", -1], ["Next", 1]].map(([text, step]) => button(text, () => openBeside(step)));
  const bar = make("div", { className: "bar-top" }, button("Back to the table", () => dialog.close()), " ", ...steps);
  const where = make("p", { className: "small soft", textContent: grid.table.dataset.title });
  dialog.replaceChildren(bar, title, where, shown, card, more);
  if (!dialog.open) dialog.showModal();
  return true;
};
const openBeside = (step) => {
  const ids = [...document.querySelectorAll(".scores a[href^='#']")]
    .filter((link) => link.offsetParent && placeOf(link.hash.slice(1)))
    .map((link) => link.hash.slice(1));
  const next = ids[ids.indexOf(hashId()) + step];
  if (next === undefined || !openCard(next)) return;
  history.replaceState({ card: true }, "", `#${next}`);
};
dialog.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step || event.target.closest("input, select, [tabindex='0']")) return;
  event.preventDefault();
  openBeside(step);
});
const hashId = () => location.hash.slice(1);
let opener = null;
document.addEventListener("click", (event) => {
  const link = event.target.closest(".scores a[href^='#']");
  if (!link || !openCard(link.hash.slice(1))) return;
  event.preventDefault();
  opener = link;
  history.pushState({ card: true }, "", link.hash);
});
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
dialog.addEventListener("close", () => history.state?.card && history.back());
addEventListener("popstate", () => {
  if (openCard(hashId())) return;
  if (dialog.open) dialog.close();
  // going back to a part of the page would move the focus there; a search that was begun meanwhile keeps it
  const last = opener;
  opener = null;
  setTimeout(() => document.activeElement.matches("input") || last?.focus({ preventScroll: true }));
});
openCard(hashId());
