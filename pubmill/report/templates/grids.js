"use strict";
const make = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};
const button = (text, action) => {
  const made = make("button", { type: "button", textContent: text });
  made.addEventListener("click", action);
  return made;
};

// The content of a head becomes a button that sorts.
const addSorter = (head, title, action) => {
  const made = Object.assign(button("", action), { className: "sort", title });
  made.append(...head.childNodes);
  head.append(made);
};
// Items with a value come first, in its order.
const compare = (a, b, direction) =>
  a === undefined || b === undefined ? (a === undefined) - (b === undefined) : direction * (a - b);

// A table of scores: its heads and cells, which are moved for another order, orientation or selection.
class Grid {
  constructor(table) {
    this.table = table;
    this.corner = table.tHead.rows[0].cells[0];
    const heads = [...table.tHead.rows[0].cells].slice(1);
    this.columns = heads.map((head) => ({ head, cells: [], group: 0 }));
    this.rows = [...table.tBodies].flatMap((body, group) =>
      [...body.rows].map((line) => {
        const [head, ...cells] = line.cells;
        cells.forEach((cell, i) => this.columns[i].cells.push(cell));
        return { head, cells, group };
      })
    );
    for (const side of ["rows", "columns"]) {
      for (const item of this[side]) {
        item.label = item.head.dataset.label;
        item.run = item.cells.some((cell) => "value" in cell.dataset);
      }
    }
    const cells = this.rows.flatMap((row) => row.cells);
    const run = cells.filter((cell) => "value" in cell.dataset).length;
    this.mostlyEmpty = run > 0 && run < cells.length / 2;
    this.isWide = this.columns.length > Math.max(this.rows.length, 8);
    this.table.classList.add("compact");
    this.restore();
    this.draw();
  }

  // What is chosen stands in the page's address, so that it can be sent and marked.
  get name() {
    return this.table.dataset.table.replace("/", "-");
  }
  restore() {
    const query = new URLSearchParams(location.search);
    const value = (what) => query.get(`${this.name}.${what}`) ?? "";
    const order = (side, other) => {
      const [, key, direction] = value(side).match(/^(.+):(-?1)$/) ?? [];
      const by = this[other].find((item) => item.head.dataset.key === key);
      return by ? { by, direction: Number(direction) } : null;
    };
    this.turned = value("turned") ? value("turned") === "1" : this.isWide;
    this.onlyRun = value("run") ? value("run") === "1" : this.mostlyEmpty;
    this.filter = value("find");
    this.sorted = { rows: order("rows", "columns"), columns: order("columns", "rows") };
  }
  store() {
    const query = new URLSearchParams(location.search);
    const order = (side) => this.sorted[side] && `${this.sorted[side].by.head.dataset.key}:${this.sorted[side].direction}`;
    const values = {
      turned: this.turned === this.isWide ? "" : Number(this.turned),
      run: this.onlyRun === this.mostlyEmpty ? "" : Number(this.onlyRun),
      find: this.filter,
      rows: order("rows"),
      columns: order("columns"),
    };
    for (const [what, value] of Object.entries(values)) {
      if (value || value === 0) query.set(`${this.name}.${what}`, value);
      else query.delete(`${this.name}.${what}`);
    }
    const text = query.toString();
    history.replaceState(history.state, "", location.pathname + (text && `?${text}`) + location.hash);
  }

  cell(row, column) {
    return row.cells[this.columns.indexOf(column)];
  }

  // The items of one side that pass the filter, in the order of the scores of an item of the other side.
  select(side) {
    const other = side === "rows" ? "columns" : "rows";
    let found = this[side].filter((item) => !this.onlyRun || item.run);
    const matching = found.filter((item) => this.matches(item));
    if (matching.length) found = matching;
    const order = this.sorted[side];
    if (!order) return found;
    const by = this[other].indexOf(order.by);
    const value = (item) => item.cells[by].dataset.value;
    return [...found].sort((one, two) => one.group - two.group || compare(value(one), value(two), order.direction));
  }
  matches(item) {
    return item.label.toLowerCase().includes(this.filter.toLowerCase());
  }

  draw() {
    this.shown = { rows: this.select("rows"), columns: this.select("columns") };
    const [down, across] = this.turned ? ["columns", "rows"] : ["rows", "columns"];
    this.corner.textContent = this.turned ? "Model" : "Dataset";
    const top = make("tr", {}, this.corner);
    for (const item of this.shown[across]) {
      item.head.scope = "col";
      top.append(item.head);
    }
    const bodies = new Map();
    for (const item of this.shown[down]) {
      item.head.scope = "row";
      const line = make("tr", {}, item.head);
      for (const one of this.shown[across]) line.append(this.turned ? this.cell(one, item) : this.cell(item, one));
      if (!bodies.has(item.group)) bodies.set(item.group, make("tbody"));
      bodies.get(item.group).append(line);
    }
    for (const item of [...this.rows, ...this.columns]) item.head.removeAttribute("aria-sort");
    for (const order of Object.values(this.sorted).filter(Boolean)) {
      order.by.head.setAttribute("aria-sort", order.direction < 0 ? "descending" : "ascending");
    }
    this.table.tHead.replaceChildren(top);
    for (const body of [...this.table.tBodies]) body.remove();
    this.table.append(...bodies.values());
    this.hideUnused();
  }

  // Reasons and notes of what is not shown hide with it.
  hideUnused() {
    const place = this.table.closest("section, main");
    const marks = new Set([...this.table.querySelectorAll("sup")].flatMap((sup) => sup.lastChild.textContent.split(", ")));
    for (const legend of place.querySelectorAll(".legend.marks")) {
      const names = [...legend.querySelectorAll("dt")];
      for (const name of names) name.hidden = name.nextElementSibling.hidden = !marks.has(name.textContent);
      const heading = document.getElementById(legend.getAttribute("aria-labelledby"));
      legend.hidden = heading.hidden = names.every((name) => name.hidden);
    }
    const keys = this.shown.columns.map((column) => column.head.dataset.key);
    for (const note of place.querySelectorAll("li[data-columns]")) {
      note.hidden = !note.dataset.columns.split(" ").some((key) => keys.includes(key));
    }
  }

  // A head orders the other side by its scores: highest first, lowest first, as printed.
  addSorting() {
    for (const [side, other] of [["columns", "rows"], ["rows", "columns"]]) {
      for (const item of this[side].filter((one) => one.run)) {
        addSorter(item.head, `Sort by ${item.label}`, ({ currentTarget }) => {
          const last = this.sorted[other];
          const next = last?.by !== item ? -1 : last.direction === -1 ? 1 : 0;
          this.sorted[other] = next ? { by: item, direction: next } : null;
          this.draw();
          this.store();
          currentTarget.focus();
        });
      }
    }
  }

  addTools() {
    const title = this.table.dataset.table;
    const turn = button("Models as rows", () => {
      this.turned = !this.turned;
      turn.setAttribute("aria-pressed", this.turned);
      this.draw();
      this.store();
    });
    turn.setAttribute("aria-pressed", this.turned);
    const only = make("input", { type: "checkbox", checked: this.onlyRun });
    const details = make("input", { type: "checkbox" });
    details.addEventListener("change", () => this.table.classList.toggle("compact", !details.checked));
    const search = make("input", { type: "search", placeholder: "Filter rows and columns", value: this.filter });
    search.setAttribute("aria-label", `Filter rows and columns of ${title}`);
    const status = make("span", { className: "status", role: "status" });
    const say = () => {
      const { rows, columns } = this.shown;
      const all = rows.length === this.rows.length && columns.length === this.columns.length;
      const shown = `${columns.length} of ${this.columns.length} models, ${rows.length} of ${this.rows.length} rows`;
      const found = [...this.rows, ...this.columns].some((item) => this.matches(item));
      status.textContent = found ? (all ? "" : shown) : "nothing matches";
    };
    const update = () => {
      this.onlyRun = only.checked;
      this.filter = search.value.trim();
      this.draw();
      this.store();
      say();
    };
    say();
    only.addEventListener("change", update);
    search.addEventListener("input", update);
    const tools = make("div", { className: "tools" }, turn);
    if (this.columns.some((column) => !column.run)) {
      tools.append(make("label", {}, only, "Only what was run"));
    }
    tools.append(make("label", {}, details, "All of each cell"), search, status);
    this.table.parentElement.before(tools);
  }
}

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
