// Tables of comparisons, and of scores without tools of their own, can be sorted by a column, within each group (third click: as printed).
for (const table of document.querySelectorAll("table.scores:not([data-table]), table.compared")) {
  const bodies = [...table.tBodies];
  const printed = bodies.map((body) => [...body.rows]);
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => {
    const cell = row.cells[column];
    const found = parseFloat(cell.dataset.value ?? cell.textContent.replaceAll("\u2212", "-"));
    return Number.isNaN(found) ? undefined : found;
  };
  const sort = (column, direction) => {
    bodies.forEach((body, i) => {
      const rows = [...printed[i]];
      if (direction) rows.sort((one, other) => compare(value(one, column), value(other, column), direction));
      body.append(...rows);
    });
  };
  heads.forEach((head, column) => {
    if (!column) return;
    addSorter(head, "Sort each group by this column", () => {
      const next = { descending: "ascending", ascending: "none" }[head.getAttribute("aria-sort")] || "descending";
      for (const one of heads) one.removeAttribute("aria-sort");
      if (next !== "none") head.setAttribute("aria-sort", next);
      sort(column, { descending: -1, ascending: 1, none: 0 }[next]);
    });
  });
}
// The report shows the runs of a cell in a dialog; elsewhere they open below the table.
for (const link of document.querySelectorAll("body:not(:has(.page-body)) .ours a")) {
  link.addEventListener("click", () => {
    const row = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    row?.closest("details")?.setAttribute("open", "");
  });
}
