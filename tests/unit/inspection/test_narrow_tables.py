"""What a cell of a composite or a difference is computed from."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.inspection.explain import cell_explanations
from pubmill.inspection.explain.cell_explanations import table_of_cell
from tests.unit.toy_tables import column, paths, recipe

COMPOSITES: list[dict[str, Any]] = [
    {"name": "blurb", "label": "BLURB", "groups": {"ner": ["bc2gm"], "re": ["gad"]}},
    {"name": "relations", "label": "Relations", "groups": {"re": ["gad"]}},
]
DIFFERENCES = [
    {"name": name, "label": name, "of": of, "minus": {}, "published": of, "printed": name}
    for name, of in (("gain", "blurb"), ("loss", "relations"))
]


def cell(column: str, row: str, table: str) -> dict[str, Any]:
    return {"table": table, "column": column, "row": row, "linked": False}


def test_only_the_records_and_tables_behind_a_cell_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is built from what remains of its recipe."""
    monkeypatch.setattr(cell_explanations, "finished_table", lambda narrow, published, results: narrow)
    columns = [
        column("bert", "BERT"),
        column("ours", "Ours"),
        column("best", "Best", best_of=["bert", "ours"]),
    ]
    records = {name: {row: paths(name, row) for row in ("bc2gm", "gad")} for name in ("bert", "ours")}
    minus = {
        name: cell("x", "y", table) for name, table in (("bert", "old/table01"), ("ours", "old/table02"))
    }
    copied = {f"{name}/gad": cell(name, "gad", "old/table03") for name in ("bert", "ours")}
    made = recipe(
        columns=columns, records=records, composites=COMPOSITES, copied=copied,
        differences=[DIFFERENCES[0] | {"minus": minus}, DIFFERENCES[1] | {"minus": minus}],
    )  # fmt: skip
    found_columns = {one.key: one for one in made.columns}
    found_rows = {one.key: one for one in made.all_rows}

    def narrow(row: str, column: str) -> Any:
        return table_of_cell(made, found_rows[row], found_columns[column], Path("p"), Path("r"))

    def read(narrowed: Any) -> dict[str, list[str]]:
        return {name: sorted(rows) for name, rows in narrowed.records.items()}

    plain = narrow("bc2gm", "bert")
    assert read(plain) == {"bert": ["bc2gm"]} and not plain.copied
    assert not any(one.minus for one in plain.differences)
    assert read(narrow("relations", "ours")) == {"ours": ["gad"]}
    assert read(narrow("blurb", "bert")) == {"bert": ["bc2gm", "gad"]}
    assert read(narrow("gad", "best")) == {"bert": ["gad"], "ours": ["gad"]}
    assert list(narrow("gad", "bert").copied) == ["bert/gad"]
    gain = narrow("gain", "ours")
    assert read(gain) == {"ours": ["bc2gm", "gad"]}
    assert [list(one.minus) for one in gain.differences] == [["ours"], []]
