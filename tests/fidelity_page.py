"""docs/fidelity.md and docs/fidelity/PAPER.md, made from the statements under `method:` of the specs.

`make docs` writes them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path

from pubmill.inspection.explain.table_statements import ORDER, WeighedStatement, by_weight
from pubmill.recipes.tables import Composite, Row, TableRecipe
from pubmill.specs import Specs
from pubmill.specs.cell_sources import AffectedCells, CellName
from pubmill.specs.fidelity import ALL_PAPERS, FidelityRow, rows
from pubmill.tables.published_values import published_lines, published_of_cells
from pubmill.tables.verdicts import incomparable
from tests import full_tables
from tests.markdown_tables import table

ROOT = Path(__file__).resolve().parents[1]
PAGE = "fidelity.md"
STANDINGS = tuple(reversed(ORDER))
SHOWN = {"differs": 12, "ours": 8}
"""Standing -> how many statements the first table shows."""
INTRODUCTION = """# What is as printed

What matters most where this program differs from the papers, or decides what neither a paper nor its
authors' program does. **Cells**: of {printed} printed scores with runs of ours, means included, those that
the choice touches. **Effect**: the largest change of a score in points, where somebody measured or printed
it. These come first, by points times the cells of the datasets that it is known for, then the others by
cells. `pubmill explain tinn2021/table06` lists the same for one table.

"""
EXPLANATION = """
## How to read the pages

Every value of a protocol, corpus, vocabulary and pretraining recipe, every default of a recipe and known
choices in code have a statement: what the paper says and in which section, what its authors' program does,
what is done here, and why, if that is not the same. The pages are made from `method:` of the specs and
from `specs/choices` by `make docs`, and `tests/unit/specs/test_fidelity.py` fails if a value has no statement
or a statement has no value.

- **as printed**: the spec does what the paper says, or takes what the paper refers to.
- **as the program**: the paper is silent or vague, and the spec does what the authors' program does, or the
  program that the paper names; repository, commit and file are there.
- **ours**: neither the paper nor a public program decides it; the reason for our choice follows.
- **differs**: the paper says it, or the program does it, and the spec does something else; the reason
  follows.

A page of a variant (`NAME@VARIANT`) lists only the values that differ from the spec that it includes; for the
others, see that spec's page. Statements on pretraining touch no cells where released weights are used. A
scale (`demo`, `small`) changes values, and its results are not compared with the papers.

"""
COLUMNS = "what|here|the paper|section|the program|standing|why|cells:|effect"
EMPTY = "empty"
LEFT_OUT = "not shown"
COPIED, COPIED_HERE = "copied", "copied from a table here"
CELL_KINDS = ("judged", "difference", COPIED_HERE, COPIED, "not comparable", "computed", EMPTY, LEFT_OUT)
CELLS_INTRODUCTION = """
## Cells of the tables

Printed scores of the tables of results at full scale, if every dataset and all weights are there:

- **judged**: our runs are compared with the printed value, and the cell gets a verdict.
- **difference**: a difference to a cell of another table; it gets a verdict too.
- **copied from a table here**: the paper took the value from that table, whose verdict the cell shows.
- **copied**: the paper took the value from work of which no table is here.
- **not comparable**: ours is shown beside the printed value, without a verdict, and the table says why.
- **computed**: the best of other columns, or a drop between them, which have verdicts of their own.
- **empty**: there is no run of ours; the reasons follow.
- **not shown**: values beside the scores that the spec leaves out (`left_out:`), as it says why.

"""
Sections = dict[str, list[WeighedStatement]]


def pages(folder: Path) -> dict[str, str]:
    found, affected = rows(folder), affected_cells()
    touched = {row: _printed(affected.of(row)) for row in found}
    weighed = {
        row: WeighedStatement(row, len(cells), len(_printed(affected.moved(row))))
        for row, cells in touched.items()
    }
    first = _first_page(list(weighed.values()), touched)
    papers = _by((weighed[row] for row in found), "paper")
    return {PAGE: first} | {_page_of(paper): _paper_page(paper, some) for paper, some in papers}


def page_names(folder: Path) -> set[str]:
    return {PAGE, *(_page_of(row.paper) for row in rows(folder))}


@cache
def affected_cells() -> AffectedCells:
    return AffectedCells(full_tables.specs())


@cache
def printed_cells() -> dict[CellName, frozenset[CellName]]:
    """Return the printed scores that runs of ours stand behind -> the cells with these runs: its own, or
    those of the datasets of a mean."""
    found = {}
    for name in full_tables.specs().tables:
        recipe = full_tables.recipe(name)
        means = {
            one.name: [row for group in one.groups.values() for row in group] for one in recipe.composites
        }
        for column, row in published_of_cells(recipe.columns, recipe.all_rows, full_tables.published(name)):
            parts = {(name, column, part) for part in means.get(row, [row])}
            if parts <= affected_cells().cells.keys():
                found[name, column, row] = frozenset(parts)
    return found


def _printed(cells: Iterable[CellName]) -> list[CellName]:
    touched = frozenset(cells)
    return [cell for cell, parts in printed_cells().items() if parts & touched]


def _by(found: Iterable[WeighedStatement], field: str) -> list[tuple[str, list[WeighedStatement]]]:
    return [(name, list(some)) for name, some in groupby(found, key=lambda one: getattr(one.row, field))]


def _first_page(found: list[WeighedStatement], touched: dict[FidelityRow, list[CellName]]) -> str:
    text = INTRODUCTION.format(printed=f"{len(printed_cells()):,}")
    ranked = by_weight(one for one in found if one.cells)
    for standing, most in SHOWN.items():
        some = [one for one in ranked if one.row.statement.standing == standing][:most]
        text += _most_important(standing, some)
    return "".join((text, EXPLANATION, _counts(found), "\n", cells_of_tables(), _index(touched)))


def _most_important(standing: str, found: Sequence[WeighedStatement]) -> str:
    rows = [(_link(one.row), _cell(one.why), one.cells, _cell(one.effect)) for one in found]
    return table(f"{standing}|why|cells:|effect", rows) + "\n"


def _page_of(paper: str) -> str:
    return f"fidelity/{paper.replace(' ', '-')}.md"


def _anchor(spec: str) -> str:
    return re.sub(r"[^a-z0-9 _-]", "", spec.lower()).replace(" ", "-")


def _link(row: FidelityRow) -> str:
    of = row.paper if row.paper != ALL_PAPERS else "all"
    return f"[{of}: {_cell(row.about)}]({_page_of(row.paper)}#{_anchor(row.spec)})"


def _counts(found: list[WeighedStatement]) -> str:
    rows = []
    for paper, some in [*_by(found, "paper"), ("all", found)]:
        counts = Counter(one.row.statement.standing for one in some)
        name = f"[{paper}]({_page_of(paper)})" if paper != "all" else paper
        rows.append((name, *(counts[one] for one in STANDINGS), len(some)))
    return table(f"statements|{':|'.join(STANDINGS)}:|together:", rows)


def _index(touched: dict[FidelityRow, list[CellName]]) -> str:
    """Return the tables of results with the statements that differ there, those about most cells first."""
    of: dict[str, Counter[FidelityRow]] = {}
    for row, cells in touched.items():
        for cell in cells:
            of.setdefault(cell[0], Counter())[row] += 1
    rows = []
    for name, found in sorted(of.items()):
        counts = Counter(row.statement.standing for row in found)
        named = [f"{_link(row)} ({n})" for row, n in found.most_common() if row.statement.differs]
        rows.append((name, *(counts[one] for one in STANDINGS), "; ".join(named)))
    return "\n## By table\n\n" + table(f"table|{':|'.join(STANDINGS)}:|differs in (cells)", rows)


def _paper_page(paper: str, found: list[WeighedStatement]) -> str:
    head = f"# What is as printed: {paper}\n\n[Fidelity](../fidelity.md) says how to read it.\n"
    if paper == ALL_PAPERS:
        return head + _specs(found) + _known(full_tables.specs())
    return head + _by_section(found) + _specs(found)


def _by_section(found: list[WeighedStatement]) -> str:
    sections: Sections = {}
    for one in found:
        sections.setdefault(one.row.statement.section or "not stated", []).append(one)
    rows = []
    for section, some in sorted(sections.items(), key=lambda one: _natural(one[0])):
        named = (f"[{_cell(one.row.about)}](#{_anchor(one.row.spec)})" + _mark(one.row) for one in some)
        rows.append((_cell(section), "; ".join(named)))
    return "\n## By section\n\n" + table("section|statements", rows)


def _mark(row: FidelityRow) -> str:
    standing = row.statement.standing
    return "" if standing == "as printed" else f" (**{standing}**)"


def _natural(section: str) -> tuple[bool, list[int], str]:
    """Return a key that sorts 5.10 after 5.9, and numbers before other names."""
    numbers = re.match(r"\d+(\.\d+)*", section)
    return numbers is None, [int(one) for one in numbers[0].split(".")] if numbers else [], section


def _specs(found: list[WeighedStatement]) -> str:
    return "".join(
        f"\n### {spec}\n\n{table(COLUMNS, map(_cells, some))}" for spec, some in _by(found, "spec")
    )


def _cells(one: WeighedStatement) -> list[str]:
    row, said = one.row, one.row.statement
    standing = said.standing if said.standing == "as printed" else f"**{said.standing}**"
    effect = one.effect if said.effect or said.standing in SHOWN else ""
    why = said.differs or said.ours
    cells = (
        row.about, row.here, said.says, said.section, said.program, standing, why, str(one.cells), effect,
    )  # fmt: skip
    return [_cell(cell or "") for cell in cells]


def _known(specs: Specs) -> str:
    """Return what is known about models and datasets beside statements: notes, and contradictory counts."""
    known = affected_cells().cells
    behind = [[known[part] for part in sorted(parts)] for parts in printed_cells().values()]
    models = Counter(name for cells in behind for name in {cell.model for cell in cells})
    datasets = Counter(name for cells in behind for name in {one.data.name for one in cells if one.data})
    notes = [(name, _cell(note), models[name]) for name, one in specs.models.items() for note in one.notes]
    disagree = [
        (name, _cell(text), datasets[name]) for name, one in specs.datasets.items() for text in one.conflicts
    ]
    return (
        f"\n## Models\n\n{table('model|note|cells:', notes)}\n## Datasets\n\n"
        f"{table('dataset|printed counts and forms that disagree|cells:', disagree)}"
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def counts(table: str) -> tuple[Counter[str], Counter[str]]:
    recipe = full_tables.recipe(table)
    printed = published_of_cells(recipe.columns, recipe.all_rows, full_tables.published(table))
    rows = {row.key: row for row in recipe.all_rows}
    kinds = {key: kind(recipe, key[0], rows[key[1]]) for key in printed}
    empty = (reason(recipe, *key) for key, found in kinds.items() if found == EMPTY)
    lines = published_lines(full_tables.SPECS / f"tables/{table}.published.csv")
    left_out = (lines["value"] != "").sum() - full_tables.published(table)["value"].count()
    return Counter(kinds.values()) + Counter({LEFT_OUT: int(left_out)}), Counter(empty)


def kind(recipe: TableRecipe, column: str, row: Row) -> str:
    is_computed = any(one.sources for one in recipe.columns if one.key == column)
    difference = next((one for one in recipe.differences if one.name == row.key), None)
    if difference:
        minus = difference.minus.get(column)
        parts = [(recipe, column, difference.of)]
        parts += [(recipe.others[minus.table], minus.column, minus.row)] if minus else []
        return "difference" if minus and all(has_runs(*part) for part in parts) else EMPTY
    if "the paper copied" in recipe.missing.get(f"{column}/{row.key}", ""):
        return COPIED_HERE if f"{column}/{row.key}" in recipe.copied else COPIED
    if is_computed:
        return "computed"
    if not has_runs(recipe, column, row.key):
        return EMPTY
    return "not comparable" if incomparable(recipe, column, row.key) else "judged"


def has_runs(recipe: TableRecipe, column: str, row: str) -> bool:
    """Return whether a cell, or all cells that a composite is computed from, have runs."""
    composite: Composite | None = next((one for one in recipe.composites if one.name == row), None)
    rows = [name for group in composite.groups.values() for name in group] if composite else [row]
    return all(recipe.records.get(column, {}).get(name) for name in rows)


def reason(recipe: TableRecipe, column: str, row: str) -> str:
    known = (recipe.missing.get(key) for key in (f"{column}/{row}", column, row))
    return next(filter(None, known), "a part of the composite has no runs")


def cells_of_tables() -> str:
    tables = sorted(full_tables.specs().tables)
    rows: list[tuple[object, ...]] = []
    reasons: list[tuple[object, ...]] = []
    together: Counter[str] = Counter()
    for paper, some in groupby(tables, key=lambda name: name.partition("/")[0]):
        found: Counter[str] = Counter()
        for name in some:
            kinds, why = counts(name)
            found += kinds
            reasons += [(name, number, text) for text, number in why.items()]
        rows.append(line(paper, found))
        together += found
    by_paper = table(f"paper|{'|'.join(CELL_KINDS)}|printed", [*rows, line("all", together)])
    return f"{CELLS_INTRODUCTION.lstrip(chr(10))}{by_paper}\n{table('table|empty|why', reasons)}"


def line(paper: str, found: Counter[str]) -> tuple[object, ...]:
    return (paper, *(found[kind] for kind in CELL_KINDS), found.total())
