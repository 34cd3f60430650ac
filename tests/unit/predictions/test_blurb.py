"""BLURB's submission form, written and read."""

import json
import zipfile
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import (
    Example,
    LabelledSentence,
    MultilabelExample,
    RegressionExample,
    SequenceExample,
    TokensExample,
)
from pubmill.predictions import blurb

from . import toy_datasets as toy

ONE, OTHER = "genomic instability and mutation", "cellular energetics"


def words(name: str, document: str | None, labels: list[str]) -> TokensExample:
    return TokensExample(id=name, document=document, words=["w"] * len(labels), labels=labels)


def hallmarks(name: str, labels: list[str], sentences: int) -> MultilabelExample:
    parts = [LabelledSentence(start=n, end=n + 1, labels=[]) for n in range(sentences)]
    return MultilabelExample(id=name, document=name, text="x" * sentences, labels=labels, sentences=parts)


DATASETS: dict[str, tuple[list[Example], str, dict[str, Any]]] = {
    "bc2gm": (
        [words("test-000001", None, ["B", "I", "O"]), words("test-000002", None, ["O"])],
        r"^[0-9]+$",
        {"0": ["B", "I", "O"], "1": ["O"]},
    ),
    "ebm-pico": (
        [
            words("test-000001", "77", ["B-PAR", "I-PAR", "O"]),
            words("test-000002", "77", ["B-OUT"]),
            words("test-000003", "78", ["O"]),
        ],
        r"^[0-9]+$",
        {"77": ["I-PAR", "I-PAR", "O", "I-OUT"], "78": ["O"]},
    ),
    "gad@blurb": (
        [SequenceExample(id=f"test-00000{n}", document=None, text="x", label=str(n % 2)) for n in (1, 2)],
        r"^[0-9]+$",
        {"0": "1", "1": "0"},
    ),
    "hoc@blurb": (
        [hallmarks("55", [OTHER, ONE], 3), hallmarks("56", [], 1)],
        r"^[0-9]+_[0-9]+$",
        {"55_0": ["CE", "GI"], "55_1": [], "55_2": [], "56_0": []},
    ),
    "chemprot@blurb": (
        [SequenceExample(id="9.T1.T2", document="9", text="x", label="CPR:3")],
        r"^[0-9]+\.T[0-9]+\.T[0-9]+$",
        {"9.T1.T2": "CPR:3"},
    ),
    "biosses": (
        [RegressionExample(id="7", document=None, text="x", text_pair="y", score=3.25)],
        r"^[0-9]+$",
        {"7": 3.25},
    ),
}
"""Examples of a dataset, the pattern of BLURB's keys, and its document of their gold."""


def gold_lines(examples: list[Example]) -> list[dict[str, Any]]:
    key = "score" if isinstance(examples[0], RegressionExample) else "labels"
    key = "label" if isinstance(examples[0], SequenceExample) else key
    return [{"id": one.id, key: getattr(one, key)} for one in examples]


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_keys_and_values_are_those_of_blurb_s_schemas(dataset: str) -> None:
    examples, pattern, expected = DATASETS[dataset]
    content = blurb.document(dataset, "a/b", examples, gold_lines(examples))
    assert content == {"dataset_name": blurb.NAMES[dataset], "model_name": "a/b", "predictions": expected}
    schema = {"additionalProperties": False, "patternProperties": {pattern: {}}}
    jsonschema.validate(content["predictions"], schema)


def test_archives_have_the_day_from_which_zip_counts(tmp_path: Path) -> None:
    blurb.write_archive(tmp_path / "all.zip", {"bc2gm": {"predictions": {}}})
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert [entry.date_time for entry in archive.infolist()] == [(1980, 1, 1, 0, 0, 0)]


@pytest.mark.parametrize("dataset", DATASETS)
def test_a_document_is_read_back(dataset: str) -> None:
    examples, _, expected = DATASETS[dataset]
    content = {"dataset_name": blurb.NAMES[dataset], "model_name": "x", "predictions": expected}
    assert blurb.is_submission(content)
    rows = {row.id: row.value for row in blurb.read(content, dataset, examples, "file")}
    assert set(rows) == {one.id for one in examples}
    if dataset == "ebm-pico":
        assert rows["test-000001"] == ["I-PAR", "I-PAR", "O"] and rows["test-000003"] == ["O"]
    else:
        predicted = [blurb.prediction_of(line) for line in gold_lines(examples)]
        assert [rows[one.id] for one in examples] == predicted


@pytest.mark.parametrize(
    ("dataset", "change", "message"),
    [
        ("bc2gm", {"dataset_name": "JNLPBA"}, r"for JNLPBA of BLURB, not for bc2gm \(BC2GM\)"),
        ("bc2gm", {"predictions": []}, r"`predictions` must be an object"),
        ("ebm-pico", {"predictions": {"77": ["O"], "78": ["O"]}}, r"77: expected a label for each of the 4"),
        ("hoc@blurb", {"predictions": {"55_0": [], "55_1": []}}, r"sentences 0 to 2 of 55, found 2 sent"),
        ("hoc@blurb", {"predictions": {"55": []}}, r"expected a list of labels by PMID_SENTENCE"),
        ("hoc@blurb", {"predictions": {"55_" + "1" * 5000: []}}, r"expected a list of labels by PMID_SENT"),
    ],
)
def test_another_dataset_and_missing_parts_are_refused(
    dataset: str, change: dict[str, Any], message: str
) -> None:
    examples, _, expected = DATASETS[dataset]
    content = {"dataset_name": blurb.NAMES[dataset], "model_name": "x", "predictions": expected} | change
    with pytest.raises(PubmillError, match=message):
        list(blurb.read(content, dataset, examples, "file"))


def test_a_dataset_whose_keys_are_unknown_is_refused(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel", "ddi@blurb")
    content = {"dataset_name": "DDI", "model_name": "x", "predictions": {}}
    with pytest.raises(PubmillError, match=r"form is not read for ddi@blurb; give a JSON object"):
        toy.score(tmp_path, "ddi@blurb", json.dumps(content))


def test_unknown_and_missing_keys_are_refused_as_ids(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel", "chemprot@blurb")
    values = {one.id: toy.gold(one) for one in toy.examples("rel")}
    first = next(iter(values))
    content = {"dataset_name": "ChemProt", "model_name": "x", "predictions": values}
    assert toy.score(tmp_path, "chemprot@blurb", json.dumps(content)).metrics["micro_f1"] == 1.0
    content["predictions"] = {name: label for name, label in values.items() if name != first} | {"0": "none"}
    with pytest.raises(PubmillError, match=rf"1 unknown \(0\); 1 missing \({first}\)"):
        toy.score(tmp_path, "chemprot@blurb", json.dumps(content))


def test_scores_that_blurb_refuses_are_named() -> None:
    assert blurb.fault([{"id": "7", "score": 4.0}, {"id": "8", "label": "x"}]) is None
    assert blurb.fault([{"id": "7", "score": 4.01}]) == "1 scores are outside of 0 to 4, first that of 7"


def test_equal_predictions_give_equal_archives(tmp_path: Path) -> None:
    for copy in ("a.zip", "b.zip"):
        blurb.write_archive(tmp_path / copy, {"gad@blurb": {"predictions": {"0": "1"}}})
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert json.loads(archive.read("gad@blurb.json")) == {"predictions": {"0": "1"}}


def test_a_document_without_labels_has_no_rows_and_one_with_too_few_is_refused() -> None:
    examples, _, whole = DATASETS["ebm-pico"]

    def read(values: dict[str, Any]) -> dict[str | None, Any]:
        content = {"dataset_name": blurb.NAMES["ebm-pico"], "model_name": "m", "predictions": values}
        return {row.id: row.value for row in blurb.read(content, "ebm-pico", examples, "f")}

    assert read({"77": whole["77"]}) == {"test-000001": ["I-PAR", "I-PAR", "O"], "test-000002": ["I-OUT"]}
    for labels, found in ((whole["77"][:-1], "3"), ("O", "none")):
        message = f"f: 77: expected a label for each of the 4 words of the document, found {found}"
        with pytest.raises(PubmillError, match=message):
            read({"77": labels, "78": ["O"]})
