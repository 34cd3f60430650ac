"""Differences between runs, studies, settings and commits."""

import json
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pubmill.errors import PubmillError
from pubmill.examples.kinds import SequenceExample, write_examples
from pubmill.inspection.diff.differences import (
    ABSENT,
    Differences,
    as_json,
    differences,
    flat,
    print_differences,
)
from pubmill.inspection.diff.sides import Context, paired, side_of
from pubmill.metrics import SCORERS
from pubmill.metrics.contributions import Items, write_items
from pubmill.storage.files import sha256, write_json, write_jsonl_gz
from tests.conftest import ROOT
from tests.unit import toy_tables

PROTOCOL, DATASET = "blurb", "gad@blurb"
TEXT = "a text that must not be shown"
DOCUMENTS = ["the title of a text", "d1", "d2", "d3", "d4"]
GOLD = ["1", "1", "0", "1", "0", "1", "0", "1"]


def add_run(
    results: Path, model: str, seed: int, predicted: str, setting: str = "standard", **changes: Any
) -> Path:
    """Write a run with a digit for each prediction; return its record."""
    examples = [
        SequenceExample(id=f"e{number}", document=DOCUMENTS[(number + 1) // 2], text=TEXT,
                        label=label)
        for number, label in enumerate(GOLD)
    ]  # fmt: skip
    file = results / f"datasets/{DATASET}/test.jsonl.gz"
    if not file.exists():
        write_examples(file, examples)
    scored = SCORERS["sequence"](examples, list(predicted), None)
    values = {"metrics": scored.metrics, "metric": "accuracy", "data_sha256": sha256(file)}
    record = toy_tables.record(model, DATASET, seed, 0.5, **{"setting": setting, **values, **changes})
    toy_tables.write(results, record)
    path = results / f"runs/{PROTOCOL}/{model}/{DATASET}/{setting}/final/seed-{seed}.json"
    lines = [{"id": f"e{number}", "label": label} for number, label in enumerate(predicted)]
    write_jsonl_gz(path.with_name(f"seed-{seed}.predictions.jsonl.gz"), lines)
    write_json(path.with_name(f"seed-{seed}.training.json"), {"tokens": 1000})
    items = Items("sequence", "document", str(record.data_sha256), scored.contributions)
    write_items(path.with_name(f"seed-{seed}.items.npz"), items)
    return path


def diff(left: object, right: object, **changes: str) -> Differences:
    context = Context(ROOT, changes.get("study", "demo"), ())
    return differences(side_of(str(left), context), side_of(str(right), context))


def text_of(found: Differences) -> str:
    text = StringIO()
    print_differences(Console(file=text, width=300), found)
    return " ".join(text.getvalue().split())


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two models with two seeds each, of which both, one or neither are right on a document."""
    for seed in (1, 2):
        add_run(tmp_path, "no-pretraining", seed, "00010100", recipe={"epochs": 3, "crf": False})
        add_run(tmp_path, "pubmedbert-base", seed, "11010011", recipe={"epochs": 5, "pooling": "cls"})
    return tmp_path / f"runs/{PROTOCOL}"


def test_the_recipes_of_runs_differ_in_some_keys_only(runs: Path) -> None:
    whole = diff(runs / "no-pretraining", runs / "pubmedbert-base")
    found = whole.recipes
    assert {one.key: (one.left, one.right) for one in found.keys} == {
        "recipe.crf": ("false", ABSENT), "recipe.epochs": ("3", "5"), "recipe.pooling": (ABSENT, '"cls"')
    }  # fmt: skip
    assert found.compared == 1 and not found.left and not found.right
    assert "recipe.epochs 3 5" in text_of(whole)
    same = diff(runs / "no-pretraining", runs / "no-pretraining")
    assert "No key differs in 1 recipe." in text_of(same)


def test_scores_of_the_same_documents_are_paired(runs: Path) -> None:
    [one] = diff(runs / "no-pretraining", runs / "pubmedbert-base").runs
    assert one.common == f"{PROTOCOL}/{DATASET}/standard" and one.runs == (2, 2)
    assert one.scores == pytest.approx((62.5, 75))
    assert one.difference is not None and one.interval is not None and one.p is not None
    assert one.difference == pytest.approx((one.scores[1] or 0) - (one.scores[0] or 0))
    assert one.interval[0] <= one.difference <= one.interval[1]


def test_the_two_directions_are_each_others_negatives(runs: Path) -> None:
    [one] = diff(runs / "no-pretraining", runs / "pubmedbert-base").runs
    [other] = diff(runs / "pubmedbert-base", runs / "no-pretraining").runs
    assert one.difference == pytest.approx(-(other.difference or 0)) and one.scores == other.scores[::-1]


def test_runs_on_other_examples_are_not_paired(runs: Path, tmp_path: Path) -> None:
    add_run(tmp_path / "other", "no-pretraining", 1, "11010101", data_sha256="e" * 64)
    found = diff(runs / "no-pretraining", tmp_path / "other")
    [one] = found.runs
    assert one.p is None and one.interval is not None and "different examples" in one.why
    assert found.flips[0].why == "scored on different examples"


def test_documents_that_flipped_are_counted_and_named_without_text(runs: Path) -> None:
    found = diff(runs / "no-pretraining", runs / "pubmedbert-base")
    [flipped] = found.flips
    assert (flipped.unit, flipped.units, flipped.why) == ("document", 5, "")
    assert flipped.gained == ("(an id that may be text)", "d1", "d4") and flipped.lost == ("d3",)
    assert TEXT not in text_of(found) + as_json(found) and "the title" not in text_of(found) + as_json(found)


@pytest.mark.parametrize(
    ("absent", "why"), [("datasets", "not in the results"), ("predictions", "there is no")]
)
def test_what_cannot_be_compared_says_why(runs: Path, tmp_path: Path, absent: str, why: str) -> None:
    pattern = "datasets/*/test.jsonl.gz" if absent == "datasets" else "runs/*/no-*/*/*/final/seed-2.pred*"
    for path in tmp_path.glob(pattern):
        path.unlink()
    assert why in diff(runs / "no-pretraining", runs / "pubmedbert-base").flips[0].why


def test_scores_by_different_metrics_are_not_compared(runs: Path, tmp_path: Path) -> None:
    add_run(tmp_path / "other", "no-pretraining", 1, "11010101", metric="micro_f1")
    [one] = diff(runs / "no-pretraining", tmp_path / "other").runs
    assert one.why == "scored with different metrics: accuracy, micro_f1"
    assert one.scores == (None, None) and one.difference is None and one.runs == (2, 1)


def test_failed_runs_are_left_out_and_said_to_be(runs: Path, tmp_path: Path) -> None:
    toy_tables.write(
        tmp_path,
        toy_tables.record("no-pretraining", DATASET, 3, 0, metrics=None, counts=None, failed="diverged"),
    )
    [one] = diff(runs / "no-pretraining", runs / "pubmedbert-base").runs
    assert one.runs == (2, 2) and one.why == "1 failed runs left out"
    for seed in (1, 2):
        (runs / f"no-pretraining/{DATASET}/standard/final/seed-{seed}.json").unlink()
    [one] = diff(runs / "no-pretraining", runs / "pubmedbert-base").runs
    assert one.scores == (None, None) and one.why == "no run without a failure on one side"


def test_cost_is_that_of_the_records(runs: Path) -> None:
    found = diff(runs / "no-pretraining", runs / "pubmedbert-base")
    for cost in found.runs[0].costs:
        assert (cost.runs, cost.seconds, cost.tokens, cost.devices) == (
            2,
            20.0,
            2000,
            ("a processor, 2 cores",),
        )
    assert "20 s 10 s 2 000 a processor, 2 cores" in text_of(found).replace("\N{NARROW NO-BREAK SPACE}", " ")


def test_tokens_are_known_only_of_all_runs_together(runs: Path) -> None:
    notes = runs / f"no-pretraining/{DATASET}/standard/final/seed-1.training.json"
    write_json(notes, {})
    [one] = diff(runs / "no-pretraining", runs / "pubmedbert-base").runs
    assert [cost.tokens for cost in one.costs] == [None, 2000]
    notes.write_text("[]")
    with pytest.raises(PubmillError, match="seed-1.training.json is not a TrainedTokens"):
        diff(runs / "no-pretraining", runs / "pubmedbert-base")


def test_two_results_folders_are_paired_by_their_runs(runs: Path, tmp_path: Path) -> None:
    add_run(tmp_path / "other", "no-pretraining", 1, "11010101", commit="d" * 40)
    found = diff(tmp_path / "runs", tmp_path / "other")
    assert [one.left for one in found.runs] == [f"{PROTOCOL}/no-pretraining/{DATASET}/standard"]
    assert found.runs[0].runs == (2, 1)
    assert found.left_only == [(PROTOCOL, "pubmedbert-base", DATASET, "standard")]
    assert ("commit", json.dumps("c" * 40), json.dumps("d" * 40)) in [one[1:4] for one in found.recipes.keys]


def test_settings_of_a_protocol_are_compared_by_their_recipes() -> None:
    found = diff("blurb/standard", "blurb/removed=2")
    [one] = [one for one in found.recipes.keys if one.key == "removed_layers"]
    assert (one.kind, one.left) == ("fine-tuning", ABSENT) and len(one.where) == found.recipes.compared > 5


def test_a_study_has_the_pretrainings_of_its_own_models_only() -> None:
    side = side_of("gu2020", Context(ROOT, "demo", ()))
    names = {names[1] for names in side.recipes if names[0] == "pretraining"}
    assert "pubmedbert-base@pmc" in names and all(name.startswith("pubmedbert-base") for name in names)
    assert {names[1] for names in side.recipes if names[0] == "corpus"} == {"pubmed-abstracts", "pubmed-pmc"}


def test_studies_are_compared_by_all_that_they_are_made_from() -> None:
    found = diff("gu2020", "small").recipes
    kinds = {one.kind for one in found.keys}
    assert {"corpus", "fine-tuning", "pretraining"} <= kinds and found.compared > 10


def test_a_commit_has_the_recipes_of_its_specs(tmp_path: Path, specs: Path) -> None:
    root = specs.parent
    for name in ("studies", "config.yaml"):
        subprocess.run(["cp", "-r", str(ROOT / name), str(root)], check=True)
    git = ["git", "-C", str(root), "-c", "user.name=x", "-c", "user.email=x@x"]
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    protocol = specs / "protocols/blurb.yaml"
    for dropout in ("0.1", "0.2"):
        protocol.write_text(protocol.read_text().replace("dropout: 0.1", f"dropout: {dropout}"))
        subprocess.run([*git, "add", "-A", "specs", "studies", "config.yaml"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", dropout], check=True)
    context = Context(root, "demo", ())
    found = differences(side_of("HEAD^", context), side_of("HEAD", context)).recipes
    changed = {(one.kind, one.key, one.left, one.right) for one in found.keys}
    assert ("fine-tuning", "dropout", "0.1", "0.2") in changed
    assert all("dropout" in key for _, key, _, _ in changed)


def test_an_unknown_operand_is_reported_with_the_nearest() -> None:
    with pytest.raises(PubmillError, match="no study, setting or commit 'gu2021'; the nearest: gu2020"):
        diff("gu2021", "demo")
    with pytest.raises(
        PubmillError, match="protocol blurb: there is no setting 'standart'; the nearest: standard"
    ):
        diff("blurb/standart", "blurb/standard")


def test_a_folder_without_runs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match=r"expected a record final/seed-N\.json, or a folder"):
        diff(tmp_path, tmp_path)


def test_names_are_paired_without_the_part_that_differs_throughout() -> None:
    one, two, three = ("p", "a", "x", "s"), ("p", "a", "y", "s"), ("p", "b", "x", "s")
    assert paired([one, two], [three]) == ([(one, three)], [two], [])
    assert paired([one], [one, three]) == ([(one, one)], [], [three])
    assert paired([("dataset", "a")], [("model", "a")]).both == []


def test_nested_recipes_are_flattened() -> None:
    assert flat({"a": {"b": 1, "c": {}}, "d": [1]}) == {"a.b": "1", "a.c": "{}", "d": "[1]"}
