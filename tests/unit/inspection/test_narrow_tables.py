"""What a cell of a composite or a difference is computed from."""

from typing import Any

import pytest

from pubmill.inspection.explain.narrow_tables import difference_of, row_of, rows_behind
from tests.unit.toy_tables import recipe

COMPOSITES: list[dict[str, Any]] = [
    {"name": "blurb", "label": "BLURB", "groups": {"ner": ["bc2gm"], "re": ["gad"]}},
    {"name": "relations", "label": "Relations", "groups": {"re": ["gad"]}},
]
DIFFERENCES = [
    {"name": name, "label": name, "of": of, "minus": {}, "published": of, "printed": name}
    for name, of in (("gain", "blurb"), ("loss", "relations"))
]


@pytest.mark.parametrize(
    ("key", "rows", "of"),
    [
        ("bc2gm", (), None), ("blurb", ("bc2gm", "gad"), None), ("relations", ("gad",), None),
        ("gain", (), "blurb"), ("loss", (), "relations"),
    ],
)  # fmt: skip
def test_a_row_is_computed_from_its_own_rows(key: str, rows: tuple[str, ...], of: str | None) -> None:
    made = recipe(composites=COMPOSITES, differences=DIFFERENCES)
    row = row_of(made, key)
    difference = difference_of(made, row)
    assert row.key == key and rows_behind(made, row) == rows
    assert (difference and difference.of) == of
