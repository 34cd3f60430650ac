"""Scoring a run: the whole record, failed runs, and everything that must not be scored."""

import gzip
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example, write_examples
from pubmill.metrics import SCORERS
from pubmill.metrics.collapse import CONSTANT
from pubmill.metrics.records import Record, read_predictions, read_record, score_run, write_record
from pubmill.metrics.run_manifests import write_manifest
from pubmill.recipes import build
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.storage.files import read_json, sha256, write_json, write_jsonl_gz
from tests.unit.metrics.toy_predictions import EXAMPLES, KINDS, QUOTED, REGRESSION, SEQUENCE, SPAN, rows_of
from tests.unit.programs import run_program

PREDICTIONS = [{"id": "test-000002", "labels": ["B", "I", "O"]}, {"id": "test-000001", "labels": ["B", "O"]}]
NAMED = {"model": "tiny", "dataset": "toy", "protocol": "blurb", "setting": "standard", "scale": "demo"}
VERSIONS: dict[str, int | list[int]] = {"convert": [1, 1], "finetune": 1, "metric": 2}
RECIPE = ScoringRecipe(**NAMED, seed=3, split="test", kind="tokens", metric="entity_f1", versions=VERSIONS)


class Run:
    """The files of one finished run; `training` may be changed before `score`."""

    def __init__(self, folder: Path) -> None:
        self.predictions = folder / "seed-3.predictions.jsonl.gz"
        self.examples = folder / "test.jsonl.gz"
        self.training_file = folder / "seed-3.training.json"
        write_examples(self.examples, EXAMPLES)
        write_jsonl_gz(self.predictions, PREDICTIONS)
        self.training: dict[str, Any] = {
            "recipe": {"task": "tokens", "negative": None, "learning_rate": 1e-5}, "seed": 3, "model": "tiny",
            "model_sha256": "ab" * 32, "max_length": 128, "dev_split": "dev", "encoded": {"windows_split": 2},
            "data_sha256": {"train": "cd" * 32, "test": sha256(self.examples)},
            "dev": {"metric": "entity_f1", "by_epoch": [0.25, 0.5], "best_epoch": 2, "best": 0.5},
            "seconds": 12, "hardware": {"cpu": "some", "cores": 2}, "packages": {"torch": "2.8.0"},
            "python": "3.12.1", "commit": "0123456789", "failed": None, "steps": 7,
        }  # fmt: skip

    def score(self, recipe: ScoringRecipe = RECIPE) -> Record:
        write_json(self.training_file, self.training)
        files = (self.predictions, self.examples, self.training_file)
        return score_run(recipe, SCORERS[recipe.kind], *files)[0]

    def hold(self, kind: str, examples: list[Any], predictions: list[dict[str, Any]]) -> None:
        """Make it a run on examples of another kind."""
        write_examples(self.examples, examples)
        write_jsonl_gz(self.predictions, predictions)
        self.training["recipe"]["task"] = kind
        self.training["data_sha256"]["test"] = sha256(self.examples)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_a_record_carries_the_whole_run_of_which_nothing_may_have_been_looked_at(run: Run) -> None:
    record = run.score()
    assert record.metrics is not None and record.counts is not None
    assert {name: record.metrics[name] for name in ("entity_f1", "relaxed_f1", "word_macro_f1")} == {
        "entity_f1": 0.5, "relaxed_f1": 0.5, "word_macro_f1": 2 / 3,
    }  # fmt: skip
    counts = {"gold": 2, "predicted": 2, "correct": 1, "examples": 2}
    assert record.counts.items() >= counts.items()
    copied = asdict(RECIPE)
    assert (copied.pop("kind"), copied.pop("negative")) == (record.recipe["task"], record.recipe["negative"])
    assert {name: getattr(record, name) for name in copied} == copied
    assert (record.dev_score, record.failed, record.seconds) == (0.5, None, 12)
    assert record.data_sha256 == sha256(run.examples)
    noted = ("max_length", "dev_split", "encoded", "model_sha256", "hardware", "packages", "python", "commit")
    for name in ("recipe", *noted):
        assert getattr(record, name) == run.training[name]
    assert record.trained_on_sha256 == run.training["data_sha256"]
    assert record.scored_with.keys() == {"commit", "packages", "python"}
    write_record(run.examples.with_name("seed-3.json"), record)
    assert read_record(run.examples.with_name("seed-3.json")) == record
    assert record.by_type == {"_": {"precision": 0.5, "recall": 0.5, "f1-score": 0.5, "support": 2}}
    # a reported fold has no dev, and a finished pipeline no length either
    run.training.update(dev_split=None, max_length=None, encoded={})
    record = run.score()
    assert (record.dev_split, record.max_length, record.encoded) == (None, None, {})


@pytest.mark.parametrize("cause", ["nan", "my-bert: the weights of 3 parameters are missing"])
def test_a_failed_run_is_recorded_without_a_score(run: Run, cause: str) -> None:
    write_jsonl_gz(run.predictions, [{**row, "labels": None} for row in PREDICTIONS])
    run.training.update(failed=cause, dev={**run.training["dev"], "best": None})
    record = run.score()
    assert (record.failed, record.metrics, record.counts, record.dev_score) == (cause, None, None, None)


def test_labels_of_subwords_are_read_and_scored(run: Run) -> None:
    assert not {name for name in run.score().metrics or {} if name.startswith("subtoken")}
    write_jsonl_gz(
        run.predictions, [PREDICTIONS[0], PREDICTIONS[1] | {"subword_labels": [["O"], ["B", "X"]]}]
    )
    record = run.score()
    assert record.metrics is not None and record.counts is not None
    assert record.metrics["subtoken_f1"] == 1.0 and record.counts["subtoken_gold"] == 1


@pytest.mark.parametrize(("kind", "metric", "negative", "score"), [
    ("sequence", "micro_f1", "0", 0.5), ("sequence", "accuracy", None, 2 / 3),
    ("multilabel", "example_f1", None, 1 / 3), ("regression", "pearson", None, -0.3973597071195131),
    ("span", "exact_match", None, 1.0),
])  # fmt: skip
def test_every_kind_is_scored(run: Run, kind: str, metric: str, negative: str | None, score: float) -> None:
    run.hold(kind, KINDS[kind][0], rows_of(kind)[::-1])
    run.training["recipe"]["negative"] = negative
    record = run.score(
        build(ScoringRecipe, {**asdict(RECIPE), "kind": kind, "metric": metric, "negative": negative}, "")
    )
    assert record.metrics is not None
    assert record.metrics[metric] == pytest.approx(score)


@pytest.mark.parametrize("noted", [None, CONSTANT], ids=["now", "by earlier versions"])
def test_a_collapsed_run_has_a_score_and_a_mark(run: Run, noted: str | None) -> None:
    """As in the papers: all "yes" has the accuracy of "yes"; equal scores have a correlation of 0."""
    run.training["failed"] = noted
    run.hold("sequence", SEQUENCE, [{"id": one.id, "label": "1"} for one in SEQUENCE])
    record = run.score(replace(RECIPE, kind="sequence", metric="accuracy"))
    assert record.metrics is not None and record.metrics["accuracy"] == pytest.approx(1 / 3)
    assert (record.failed, record.collapsed) == (None, True)
    run.hold("regression", REGRESSION, [{"id": one.id, "score": 1.0} for one in REGRESSION])
    record = run.score(replace(RECIPE, kind="regression", metric="pearson"))
    assert (record.failed, record.collapsed, record.metrics) == (None, True, {"pearson": 0.0})


def test_a_main_metric_without_definition_fails_the_run_and_no_examples_are_an_error(run: Run) -> None:
    equal = [replace(one, score=2.0) for one in REGRESSION]
    run.hold("regression", equal, [{"id": one.id, "score": 1.0} for one in equal])
    record = run.score(replace(RECIPE, kind="regression", metric="pearson"))
    assert (record.failed, record.metrics, record.counts) == ("pearson not defined", None, None)
    assert record.dev_score == 0.5 and not record.collapsed
    write_examples(run.examples, [])
    with pytest.raises(PubmillError, match="has no examples; convert the dataset again"):
        run.score()


@pytest.mark.parametrize(("recipe", "training", "message"), [
    ({"negative": "false"}, {}, "negative None, not 'false'"),
    ({}, {"recipe": {"task": "sequence", "negative": None}}, "task 'sequence', not 'tokens'"),
    ({"seed": 4}, {}, "seed 3, not 4"), ({"model": "other"}, {}, "model 'tiny', not 'other'"),
    ({}, {"data_sha256": {"test": "00"}}, "sha256 of test examples '00', not"),
    ({}, {"dev": None}, "being objects"),
    *(({}, {name: ...}, rf"at least the keys .*'{name}'.*Run the fine-tuning again")
      for name in ("dev", "encoded", "max_length", "dev_split")),
    *(({}, {name: value}, rf"training\.json: not a complete record: {name}")
      for name, value in (("encoded", {"windows_split": "2"}), ("encoded", None), ("max_length", 1.5),
                          ("dev_split", 3))),
])  # fmt: skip
def test_notes_of_another_run_or_of_another_form_are_refused(
    run: Run, recipe: dict[str, Any], training: dict[str, Any], message: str
) -> None:
    """`...`: the notes lack this."""
    run.training |= training
    run.training = {name: value for name, value in run.training.items() if value is not ...}
    with pytest.raises(PubmillError, match=message):
        run.score(replace(RECIPE, **recipe))


@pytest.mark.parametrize(
    "change", [{"extra": 1}, {"seed": "3"}, {"versions": {"metric": 1.5}}, {"metrics": 3}]
)
def test_records_are_read_strictly(run: Run, tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "seed-3.json"
    write_json(path, run.score().model_dump() | change)
    with pytest.raises(PubmillError, match=rf"seed-3\.json: not a complete record: {next(iter(change))}"):
        read_record(path)


def test_the_program_writes_the_records_of_a_manifest_and_theirs(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run.score()
    runs = run.predictions.with_name("runs.json")
    write_manifest(runs, ["seed-3"])
    words = ["--recipe", json.dumps(asdict(RECIPE)), "--runs", runs, "--examples", run.examples]
    run_program("score", *words, "--output", tmp_path / "records.json")
    assert capsys.readouterr().out == "tiny on toy test, seed 3: entity_f1 0.5000\n"
    assert read_json(tmp_path / "seed-3.json")["metrics"]["entity_f1"] == 0.5
    assert read_json(tmp_path / "records.json")["files"] == {
        name: sha256(tmp_path / name) for name in ("seed-3.json", "seed-3.items.npz")
    }


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_of_records_are_finite(run: Run, number: float) -> None:
    values = run.score().model_dump()
    assert Record.model_validate(values)
    for changes in ({"dev_score": number}, {"seconds": number}, {"metrics": {"entity_f1": number}}):
        with pytest.raises(ValidationError, match="finite"):
            Record.model_validate(values | changes)


def test_predictions_come_in_the_order_of_the_examples_and_missing_ones_are_named(tmp_path: Path) -> None:
    for kind, (examples, predicted, _) in KINDS.items():
        write_jsonl_gz(tmp_path / "p.jsonl.gz", rows_of(kind)[::-1])
        if kind == "span":
            predicted = [[("pain", 0.5), ("", 0.5)]]
        assert read_predictions(tmp_path / "p.jsonl.gz", examples) == predicted
    # in single precision, a sum of probabilities may be slightly above 1
    for probability in (0, 1, 1.00001):
        lines = [{"id": "q1", "answers": [{"text": "pain", "probability": probability}]}]
        write_jsonl_gz(tmp_path / "p.jsonl.gz", lines)
        assert read_predictions(tmp_path / "p.jsonl.gz", SPAN) == [[("pain", probability)]]
    examples = [replace(EXAMPLES[0], id=str(number)) for number in range(7)]
    write_jsonl_gz(tmp_path / "p.jsonl.gz", [{"id": "6", "labels": ["O", "O"]}])
    with pytest.raises(PubmillError, match="6 of 7 examples have no prediction, .* 0, 1, 2, 3, 4; run the"):
        read_predictions(tmp_path / "p.jsonl.gz", examples)


LABELS, SUBWORDS = "a list of BIO labels", "subword_labels, a list of BIO labels or X for each word"
OF_WORDS, SORTED = {"labels": ["B", "I", "O"]}, "a list of sorted, different labels"
ANSWERS, NUMBER, UNPLACED = "a list of answers", "a finite number", "unplaced, a list of types and numbers"
MENTIONS = "a list of mentions: first word, word after the last .up to 2., type"


@pytest.mark.parametrize(("kind", "row", "expected"), [
    ("tokens", {}, "an object with exactly the keys id and labels"),
    ("tokens", {"labels": ["O"]}, "3 labels.*found 1"), ("tokens", {"labels": None}, LABELS),
    ("tokens", {"labels": ["O", "O", "X"]}, LABELS),
    ("tokens", OF_WORDS | {"subword_labels": [["B"]]}, "subword_labels of 3 words, found 1"),
    ("tokens", OF_WORDS | {"subword_labels": [["B"], ["I", "Y"], ["O"]]}, SUBWORDS),
    ("tokens", OF_WORDS | {"subword_labels": [["B"], "I", ["O"]]}, SUBWORDS),
    ("tokens", OF_WORDS | {"subword_labels": [["B"], [1], ["O"]]}, SUBWORDS),
    ("sequence", {"label": None}, "a label"), ("sequence", {"label": ""}, "a label"),
    ("sequence", {"label": 1}, "a label"), ("multilabel", {"labels": ["y", "x"]}, SORTED),
    ("multilabel", {"labels": ["x", "x"]}, SORTED), ("multilabel", {"labels": QUOTED}, SORTED),
    ("multilabel", {"labels": [1]}, SORTED), ("regression", {"score": float("nan")}, NUMBER),
    ("regression", {"score": True}, NUMBER), ("regression", {"score": QUOTED}, NUMBER),
    ("span", {"answers": []}, ANSWERS), ("span", {"answers": [{"text": QUOTED}]}, ANSWERS),
    ("span", {"answers": [{"text": QUOTED, "probability": 1.0001}]}, ANSWERS),
    ("span", {"answers": [{"text": QUOTED, "probability": -1e-9}]}, ANSWERS),
    ("span", {"answers": [{"text": QUOTED, "probability": True}]}, ANSWERS),
    ("span", {"answers": [{"text": None, "probability": 0.1}]}, ANSWERS),
    ("span", {"answers": [{"text": QUOTED, "probability": p} for p in (0.1, 0.2)]},
     "the most probable answer first"),
    *(("mentions", {"mentions": one}, MENTIONS)
      for one in ("x", ["x"], [[0, 1]], [[0, 1, "x", 1]], [[0, True, "x"]], [[0, 1, 2]], [[0, 3, "x"]],
                  [[1, 1, "x"]], [[-1, 1, "x"]])),
    ("mentions", {"mentions": [[1, 2, "x"], [0, 1, "x"]]}, "sorted and unique"),
    ("mentions", {"mentions": [[0, 1, "x"], [0, 1, "x"]]}, "sorted and unique"),
    *(("mentions", {"mentions": [], "unplaced": one}, UNPLACED)
      for one in ([["x", 0]], [["x", 3]], [["x", True]], [[1, 1]], "x")),
])  # fmt: skip
def test_misshapen_predictions_are_refused_and_not_quoted(
    tmp_path: Path, kind: str, row: dict[str, Any], expected: str
) -> None:
    path, examples = tmp_path / "p.jsonl.gz", KINDS[kind][0]
    rows = [*rows_of(kind)[:-1], {"id": examples[-1].id, **row}]
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    with pytest.raises(PubmillError, match=rf"p\.jsonl\.gz:{len(rows)}: .*{expected}") as caught:
        read_predictions(path, examples)
    assert QUOTED not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_of_another_kind_are_refused(tmp_path: Path, kind: str) -> None:
    examples: list[Example] = KINDS[kind][0]
    write_jsonl_gz(tmp_path / "p.jsonl.gz", [{"id": examples[0].id, "other": QUOTED}])
    with pytest.raises(PubmillError, match=f":1: expected .* keys id and {KINDS[kind][2]}") as caught:
        read_predictions(tmp_path / "p.jsonl.gz", examples)
    assert QUOTED not in str(caught.value)


@pytest.mark.parametrize(("name", "fault"), [
    (QUOTED, "its id isn't one of the examples'"), (7, "its id isn't one of the examples'"),
    ("dev-1", "the id 'dev-1' isn't one"), ("r0", "r0 already has a prediction"),
])  # fmt: skip
def test_other_ids_are_refused_and_texts_not_quoted(tmp_path: Path, name: Any, fault: str) -> None:
    write_jsonl_gz(tmp_path / "p.jsonl.gz", [{"id": "r0", "score": 1}, {"id": name, "score": 1}])
    with pytest.raises(PubmillError, match=f":2: {fault}") as caught:
        read_predictions(tmp_path / "p.jsonl.gz", REGRESSION)
    assert QUOTED not in str(caught.value)
