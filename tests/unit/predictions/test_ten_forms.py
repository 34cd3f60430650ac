"""Predictions of another system, from a file in each of ten forms to a score, by the command as typed."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.unit.predictions import toy_datasets
from tests.unit.programs import make_checkout, run_verb

FORMS: dict[str, tuple[str, Callable[[Path], str], tuple[str, ...]]] = {
    "JSON lines": ("ner", lambda _: toy_datasets.jsonl("ner"), ()),
    "JSON lines of character spans": ("ner", lambda _: toy_datasets.span_lines(), ()),
    "CoNLL columns": ("ner", lambda _: toy_datasets.conll(), ()),
    "CoNLL columns in IOBES": ("ner", lambda _: toy_datasets.conll(toy_datasets.iobes), ()),
    "BioC JSON": ("ner", lambda results: json.dumps(toy_datasets.bioc("ner", results)), ()),
    "BioC XML": ("ner", toy_datasets.bioc_xml, ()),
    "PubTator": ("ner", lambda _: toy_datasets.pubtator(), ()),
    "BLURB's table": ("rel", lambda _: toy_datasets.blurb_tsv(), ()),
    "a JSON object by id": (
        "rel",
        lambda _: json.dumps({one.id: toy_datasets.gold(one) for one in toy_datasets.examples("rel")}),
        (),
    ),
    "labels in the order of the export": (
        "rel",
        lambda _: json.dumps([toy_datasets.gold(one) for one in toy_datasets.examples("rel")]),
        ("--order", "export"),
    ),
}
"""Ten forms of predictions: dataset, the gold in this form, further options."""


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with two converted datasets."""
    folder = tmp_path_factory.mktemp("submissions")
    make_checkout(folder)
    for kind in ("scales", "datasets"):
        (folder / "specs" / kind).mkdir()
    scale = "name: demo\ntitle: a scale\ncomparable: false\nprefer: own\n"
    (folder / "specs/scales/demo.yaml").write_text(scale)
    for name, task in (("ner", "ner"), ("rel", "relation")):
        toy_datasets.make(folder / "results/demo", name)
        spec = {
            "name": name, "label": name, "kind": toy_datasets.KINDS[name], "task": task,
            "domain": "biomedical", "splits": ["test"], "access": "public", "licence": "none",
            "sources": {"test": {"url": "https://example.org/test", "unchecked": "a toy"}},
            "citation": "none", "converter": "pubmill.convert.tsv:read",
            "metric": toy_datasets.METRICS[name], "expect": {}, "version": 1,
        }  # fmt: skip
        if name == "rel":
            spec |= {"negative": "none", "dummies": vars(toy_datasets.DUMMIES)}
        (folder / f"specs/datasets/{name}.yaml").write_text(yaml.safe_dump(spec))
    return folder


@pytest.mark.parametrize("form", FORMS)
def test_predictions_of_another_system_are_scored_in_ten_forms(form: str, converted: Path) -> None:
    dataset, content, options = FORMS[form]
    file = converted / "predictions"
    file.write_text(content(converted / "results/demo"))
    words = ("score", file, "--dataset", dataset, *options, "--results", converted / "results/demo")
    said = run_verb(*map(str, words), checkout=converted)
    assert re.match(rf"{dataset} test, seed 1, 12 examples, \S+: \w+_f1 100\.00\b", said.stdout), said
