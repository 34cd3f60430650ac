// What a table shows now, as text in several forms.
const plain = (text) => text.replaceAll("\u2212", "-").replaceAll("\u202f", " ");
const textOf = (cell, selector) => plain(cell.querySelector(selector)?.textContent.trim() ?? "");
const record = (grid, row, column) => {
  const cell = grid.cell(row, column);
  const { table, scale } = grid.table.dataset;
  return {
    table,
    scale,
    row: row.head.dataset.key,
    column: column.head.dataset.key,
    value: cell.dataset.value ?? "",
    spread: textOf(cell, ".spread"),
    complete: textOf(cell, ".n"),
    published: textOf(cell, ".published i"),
    difference: textOf(cell, ".gap").replace("+", ""),
    verdict: textOf(cell, ".verdict"),
  };
};
const records = (grid) =>
  grid.shown.rows.flatMap((row) => grid.shown.columns.map((column) => record(grid, row, column)));

// Lines of texts as they stand in the table: the first has the heads.
const lines = (grid, content) => {
  const { rows, columns } = grid.shown;
  const [down, across] = grid.turned ? [columns, rows] : [rows, columns];
  const body = down.map((item) => [
    item.label,
    ...across.map((one) => (grid.turned ? content(one, item) : content(item, one))),
  ]);
  return [[grid.turned ? "Model" : "Dataset", ...across.map((one) => one.label)], ...body];
};
const score = (grid, bold, minus, plusMinus) => (row, column) => {
  const found = record(grid, row, column);
  const best = grid.cell(row, column).classList.contains("best");
  const value = found.value && Number(found.value).toFixed(2).replace("-", minus);
  const ours = value && (best ? bold(value) : value) + (found.spread && `${plusMinus}${found.spread}`);
  return [ours, found.published && `(${found.published.replace("-", minus)})`].filter(Boolean).join(" ");
};

// The LaTeX of tableNN.tex, of which the shown lines and columns are picked, in their order.
const keyOf = (item) => item.head.dataset.key;
const latexLine = (line) => {
  const [, cells, kind, names] = line.match(/^(.*) \\\\ % pubmill: (\w+) (.*)$/);
  return { cells: cells.split(" & "), kind, names: names.split(" ") };
};
const markedLine = (cells, kind, items) => `${cells.join(" & ")} \\\\ % pubmill: ${[kind, ...items.map(keyOf)].join(" ")}`;
const unstacked = (head) => head.replace(/^\\shortstack\[r\]\{(.*)\}$/, (_, lines) => lines.replaceAll("\\\\", " "));
const toLatex = (grid) => {
  const all = grid.table.closest("section").querySelector(".tex").textContent.split("\n");
  const [first, last] = [all.indexOf("\\toprule") + 1, all.indexOf("\\bottomrule")];
  const [head, ...lines] = all.slice(first, last).filter((line) => line !== "\\midrule").map(latexLine);
  const downNames = lines.map((line) => line.names[0]);
  const among = (names) => [...grid.shown.rows, ...grid.shown.columns].filter((item) => names.includes(keyOf(item)));
  let [down, across, kind] = [among(downNames), among(head.names), head.kind];
  const pick = (line) => [line.cells[0], ...across.map((item) => line.cells[1 + head.names.indexOf(keyOf(item))])];
  let cells = [head, ...down.map((item) => lines[downNames.indexOf(keyOf(item))])].map(pick);
  if (grid.turned && kind === "columns") {
    cells = cells[0].map((_, i) => cells.map((line) => unstacked(line[i])));
    cells[0][0] = "Model";
    [down, across, kind] = [across, down, "rows"];
  }
  const body = down.flatMap((item, i) => [
    ...(i === 0 || (kind === "columns" && item.group !== down[i - 1].group) ? ["\\midrule"] : []),
    markedLine(cells[i + 1], kind === "rows" ? "column" : "row", [item]),
  ]);
  const table = [markedLine(cells[0], kind, across), ...body];
  const marks = [...table.join("\n").matchAll(/\\textsuperscript\{([\w, ]+)\}/g)].flatMap((found) => found[1].split(", "));
  const isMeant = (line) => !line.startsWith("\\textsuperscript") || marks.includes(line.match(/\{(\w+)\}/)[1]);
  const before = all.slice(0, first).map((line) => line.replace(/^(\\begin\{tabular\}\{@\{\}l)r*/, `$1${"r".repeat(across.length)}`));
  return [...before, ...table, ...all.slice(last).filter(isMeant)].join("\n");
};

const markdownText = (text) => text.replace(/[\\|*_`<>[\]]/g, "\\$&");
const toMarkdown = (grid) => {
  const [head, ...body] = lines(grid, score(grid, (text) => `**${text}**`, "-", " ± "));
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, i) => (i ? "---:" : "---"));
  return [
    markdownText(grid.table.dataset.title),
    "",
    line(head.map(markdownText)),
    line(rule),
    ...body.map(([label, ...cells]) => line([markdownText(label), ...cells])),
    "",
  ].join("\n");
};

// Text that a spreadsheet would read as a formula gets a quotation mark before it; numbers stay numbers.
const csvCell = (text) => {
  const inert = /^[=+\-@\t\r]/.test(text) && isNaN(text) ? `'${text}` : text;
  return /[",\n\r]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
};
const toCsv = (grid) => {
  const found = records(grid);
  const names = Object.keys(found[0]);
  return [names, ...found.map((one) => names.map((name) => one[name]))]
    .map((cells) => `${cells.map(csvCell).join(",")}\n`)
    .join("");
};
const toJson = (grid) => {
  const { table, scale, title } = grid.table.dataset;
  const number = (text) => (text === "" ? null : Number(text));
  const cells = records(grid).map(({ table: _, scale: __, ...one }) => ({
    ...one,
    value: number(one.value),
    spread: number(one.spread),
    difference: number(one.difference),
  }));
  return `${JSON.stringify({ table, scale, title, cells }, null, 1)}\n`;
};
const FORMS = { LaTeX: [toLatex, "tex"], Markdown: [toMarkdown, "md"], CSV: [toCsv, "csv"], JSON: [toJson, "json"] };

const copyText = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { value: text });
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
};
const saveText = (text, name) => {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};
const copyButton = (text, label = "Copy") => {
  const made = button(label, async () => {
    await copyText(typeof text === "function" ? text() : text);
    made.textContent = "Copied";
    setTimeout(() => (made.textContent = label), 1500);
  });
  return made;
};
const exportMenu = (grid) => {
  const name = grid.table.dataset.table.replace("/", "-");
  const menu = make("div");
  for (const [form, [write, ending]] of Object.entries(FORMS)) {
    const save = button("Save", () => saveText(write(grid), `${name}.${ending}`));
    const copy = copyButton(() => write(grid));
    copy.setAttribute("aria-label", `Copy as ${form}`);
    save.setAttribute("aria-label", `Save as ${form}`);
    menu.append(make("span", { textContent: form }), copy, save);
  }
  return make("details", {}, make("summary", { textContent: "Copy or save" }), menu);
};

// A table gets its tools when it comes near to what is shown, so that a long page opens fast.
const grids = [...document.querySelectorAll("table.scores[data-table]")].map((table) => new Grid(table));
const near = new IntersectionObserver((entries) => {
  for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
    near.unobserve(target);
    const grid = grids.find((one) => one.table === target);
    grid.addSorting();
    grid.addTools();
  }
}, { rootMargin: "1500px" });
for (const grid of grids) near.observe(grid.table);

// A table that is wider than the page gets narrower cells. If it is still wider, it scrolls sideways; any other keeps
// its head in view.
const isWider = (box) => box.firstElementChild.offsetWidth > box.clientWidth;
const fitting = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    target.classList.remove("tight");
    target.classList.toggle("tight", isWider(target));
    target.classList.toggle("fits", !isWider(target));
  }
});
for (const grid of grids) fitting.observe(grid.table.parentElement);
