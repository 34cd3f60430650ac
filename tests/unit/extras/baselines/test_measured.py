"""Predictions of floors as lines of a file."""

from typing import Any

import pytest

from pubmill.extras.baselines.measured import row
from tests.unit.toy_examples import examples


@pytest.mark.parametrize(
    ("name", "prediction", "line"),
    [("ner", ["O"] * 12, {"labels": ["O"] * 12}), ("doc", ["a"], {"labels": ["a"]}),
     ("rel", "blocks", {"label": "blocks"}), ("sim", 1.5, {"score": 1.5}),
     ("qa", [("x", 0.5)], {"answers": [{"text": "x", "probability": 0.5}]})],
)  # fmt: skip
def test_a_line_has_what_its_kind_predicts(name: str, prediction: Any, line: dict[str, Any]) -> None:
    first = examples(name)[0]
    assert row(first, prediction) == {"id": first.id, **line}
