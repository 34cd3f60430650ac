"""The text of a document whose passages have gaps or overlap."""

import json
from pathlib import Path

import pytest

from pubmill.predictions.alignment import FURTHEST
from pubmill.predictions.document_forms import read, text_of

CASES: dict[str, tuple[list[tuple[int, str]], str]] = {
    "touching": ([(0, "One."), (4, "Two.")], "One.Two."),
    "gap": ([(0, "One."), (6, "Two.")], "One.  Two."),
    "overlapping": ([(0, "One."), (3, "Lost."), (5, "Two.")], "One. Two."),
    "unordered": ([(5, "Two."), (0, "One.")], "One. Two."),
    "far": ([(0, "One."), (10**9, "Two.")], "One." + " " * (FURTHEST + 1) + "Two."),
}


@pytest.mark.parametrize("name", CASES)
def test_each_passage_stands_at_its_offset(name: str, tmp_path: Path) -> None:
    parts, text = CASES[name]
    passages = [
        {"offset": offset, "infons": {}, "text": said, "annotations": [], "relations": [], "sentences": []}
        for offset, said in parts
    ]
    documents = [{"id": "1", "infons": {}, "passages": passages, "relations": []}]
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"source": "", "date": "", "key": "", "infons": {}, "documents": documents}))
    [found] = read(path, "bioc-json")
    assert (found.id, text_of(found)) == ("1", text)
