// Comparisons of models can be sorted by a column, within each row of their table (third click: as printed).
const numberIn = (row, column) => parseFloat(plain(row.cells[column].textContent));
for (const table of document.querySelectorAll("table.compared")) {
  const heads = [...table.tHead.rows[0].cells].slice(1);
  const printed = new Map([...table.tBodies].map((body) => [body, [...body.rows]]));
  heads.forEach((head, i) => {
    const sort = make("button", { type: "button", className: "sort" }, ...head.childNodes);
    head.append(sort);
    sort.addEventListener("click", () => {
      const next = { descending: "ascending", ascending: "" }[head.getAttribute("aria-sort")] ?? "descending";
      for (const one of heads) one.removeAttribute("aria-sort");
      if (next) head.setAttribute("aria-sort", next);
      const direction = { descending: -1, ascending: 1 }[next];
      for (const [body, rows] of printed) {
        const order = (one, two) => direction * (numberIn(one, i + 1) - numberIn(two, i + 1)) || 0;
        body.append(...(direction && rows.length > 1 ? [...rows].sort(order) : rows));
      }
    });
  });
}
