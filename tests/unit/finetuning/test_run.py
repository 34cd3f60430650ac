"""Runs that depend on others: chains, training anew with dev, and what comes of those that failed."""

import gc
import json
import shutil
import weakref
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from pubmill.errors import PubmillError
from pubmill.examples.kinds import SpanExample, TokensExample, write_examples
from pubmill.finetuning.finetuning_job import FinetuningJob, read_split
from pubmill.finetuning.inputs import EncodedSplit
from pubmill.finetuning.run import Run, finetune
from pubmill.finetuning.task_models import continue_head, keep, keep_report, load_task_model
from pubmill.finetuning.trainer import FinetuningProgress, Trainer
from pubmill.metrics import dev_score
from pubmill.recipes import FinetuningRecipe
from pubmill.recipes.reading import as_values
from pubmill.storage.files import read_json, read_jsonl_gz, sha256, write_json
from tests.unit.finetuning.fake_graphs import FakeRecorder, on_gpu
from tests.unit.programs import run_program
from tests.unit.toy_tasks import OURS, SPAN, TOKENS, write_dataset

STILL: dict[str, Any] = {"learning_rate": 1e-30, "epochs": 1}
"""Training that leaves weights as they were, for it adds less than their last digit."""
BOTH = replace(TOKENS, train_on="train+dev")


@pytest.fixture(scope="module")
def factoid(toy_data: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "factoid"
    for split in ("train", "dev", "test"):
        examples = read_split(toy_data["span"], split, SpanExample)
        write_examples(folder / f"{split}.jsonl.gz", [one for one in examples if one.answers])
    return folder


@pytest.fixture(scope="module")
def before(
    tiny: Path, toy_data: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Task models as a run before in a chain keeps them; some questions of the one cannot be answered."""
    folders: dict[str, Path] = {}
    for recipe in (replace(TOKENS, **STILL), SPAN):
        folders[recipe.task] = tmp_path_factory.mktemp("before") / recipe.task
        run = finetune(FinetuningJob(recipe, tiny, toy_data[recipe.task], 1, "test"))
        assert isinstance(run, Run)
        keep(folders[recipe.task], run.task, run.model, run.report, toy_data[recipe.task])
    return folders


def test_a_run_accounts_for_itself(tiny: Path, tokens: Path) -> None:
    made = finetune(FinetuningJob(replace(TOKENS, epochs=4, learning_rate=1e-2), tiny, tokens, 1, "dev"))
    examples, report = read_split(tokens, "dev", TokensExample), made.report
    assert [row["id"] for row in made.predictions] == [example.id for example in examples]
    score = dev_score("entity_f1", "tokens", examples, [row["labels"] for row in made.predictions], None)
    assert score == report["dev"]["best"] == max(report["dev"]["scores"]) > 0.85
    assert report["dev"]["scores"].index(score) + 1 == report["dev"]["best_epoch"]
    assert report["steps"] == 4 * 7 and report["failed"] is None and report["model"] == "tiny"
    assert report["hardware"]["threads"] == torch.get_num_threads()
    assert set(report["data_sha256"]) == {"train", "dev"}


@pytest.mark.parametrize(
    ("recipe", "epochs", "least"),
    [
        (replace(OURS["mentions"], entities="original"), 3, 0.9), (OURS["nested mentions"], 4, 0.7),
        (OURS["relations"], 8, 0.8),
    ],
    ids=["sequence", "mentions", "relations"],
)  # fmt: skip
def test_a_task_is_learnt(
    recipe: FinetuningRecipe, epochs: int, least: float, tiny: Path, tmp_path: Path
) -> None:
    folder = write_dataset(tmp_path, recipe.task, train=200)
    exact = replace(recipe, dropout=0.0, head_dropout=0.0, epochs=epochs, learning_rate=5e-3)
    made = finetune(FinetuningJob(exact, tiny, folder, 1, "test"))
    assert (made.report["dev"]["best"] or 0.0) > least


@pytest.mark.parametrize("train_on", ["train", "train+dev"])
def test_a_chain_goes_on_with_the_head_for_answers(
    train_on: Any, tiny: Path, before: dict[str, Path], factoid: Path
) -> None:
    """Though one dataset has questions without an answer and the other none: starts and ends are the same."""
    recipe = replace(SPAN, train_on=train_on, **STILL)
    second = finetune(FinetuningJob(recipe, before["span"], factoid, 5, "test"))
    assert isinstance(second, Run) and second.task.labels == ["answerable"]
    assert second.report["head_from_start"] is True
    head = second.model.head.state_dict()
    for name, value in load_file(before["span"] / "head.safetensors").items():
        assert torch.equal(head[name], value)
    alone = finetune(FinetuningJob(recipe, tiny, factoid, 5, "test"))
    assert alone.report["head_from_start"] is None and alone.predictions != second.predictions


@pytest.mark.parametrize(
    ("recipe", "labels", "same"),
    [
        (TOKENS, None, True), (replace(TOKENS, tagging="io"), ["I-Thing", "O"], False),
        (TOKENS, ["B-Other", "I-Other", "O"], False), (replace(TOKENS, crf=True), None, False),
        (replace(TOKENS, head="mlp", head_sizes=[16]), None, False),
        (replace(TOKENS, head_dropout=0.3, loss="weighted"), None, True),
    ],
)  # fmt: skip
def test_only_the_same_head_goes_on(
    recipe: FinetuningRecipe, labels: list[str] | None, same: bool, before: dict[str, Path]
) -> None:
    folder = before["tokens"]
    known = load_task_model(folder, torch.device("cpu")).task
    task = type(known)(recipe, known.reader, labels or known.labels)
    head = task.head(32)
    began = {name: value.clone() for name, value in head.state_dict().items()}
    assert continue_head(head, task, folder) is same
    changed = any(not torch.equal(value, began[name]) for name, value in head.state_dict().items())
    assert changed is same


def test_a_damaged_head_is_no_new_one(before: dict[str, Path], tokens: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(before["tokens"], tmp_path / "kept")
    save_file({"linear.weight": torch.zeros(2, 2)}, folder / "head.safetensors")
    with pytest.raises(PubmillError, match=r"head\.safetensors has changed since it was written"):
        finetune(FinetuningJob(TOKENS, folder, tokens, 1, "test"))


def test_what_begins_with_a_failed_run_has_failed(tiny: Path, factoid: Path, tmp_path: Path) -> None:
    start = tmp_path / "start"
    keep_report(start, {"model": "tiny", "failed": "nan"})
    made = finetune(FinetuningJob(SPAN, start, factoid, 3, "test"))
    assert not isinstance(made, Run)
    asked = read_split(factoid, "test", SpanExample)
    assert made.predictions == [{"id": one.id, "answers": None} for one in asked]
    report = made.report
    assert (report["failed"], report["start_failed"], report["search_failed"]) == ("nan", "nan", None)
    assert (report["model"], report["model_sha256"], report["seed"]) == ("tiny", None, 3)
    assert (report["dev"]["best"], report["steps"], report["recipe"]) == (None, 0, as_values(SPAN))
    assert (
        report.keys()
        == finetune(FinetuningJob(replace(SPAN, **STILL), tiny, factoid, 3, "test")).report.keys()
    )
    json.dumps(report, allow_nan=False)
    keep_report(tmp_path / "next", report)  # and so on along the chain
    assert (
        finetune(FinetuningJob(SPAN, tmp_path / "next", factoid, 3, "test")).report["start_failed"] == "nan"
    )


def test_a_collapsed_start_is_a_start_like_others(
    before: dict[str, Path], factoid: Path, tmp_path: Path
) -> None:
    start = shutil.copytree(before["span"], tmp_path / "start")
    report = read_json(start / "training.json")
    write_json(start / "training.json", {**report, "failed": "constant predictions"})
    made = finetune(FinetuningJob(replace(SPAN, **STILL), start, factoid, 2, "test"))
    assert isinstance(made, Run) and made.report["start_failed"] is None
    assert made.report["failed"] is None


def by_program(
    tmp_path: Path, model: Path, dataset: Path, recipe: dict[str, Any], selected: dict[str, Any]
) -> Path:
    """Run scripts/finetune.py with a choice for the recipe; its predictions."""
    write_json(tmp_path / "selected.json", selected)
    given = ("--recipe", json.dumps(recipe), "--model", model, "--dataset", dataset, "--seeds", 1)
    further = ("--split", "test", "--output", tmp_path / "out/runs.json", "--keep", tmp_path / "kept")
    run_program("finetune", *given, *further, "--selected", tmp_path / "selected.json")
    return tmp_path / "out/seed-1.predictions.jsonl.gz"


def test_the_program_gives_the_same_as_the_library(tiny: Path, tokens: Path, tmp_path: Path) -> None:
    chosen = {"learning_rate": 1e-3, "batch_size": 16, "epochs": 1}
    output = by_program(tmp_path, tiny, tokens, asdict(TOKENS), {"chosen": chosen, "mean_dev": 0.5})
    recipe = replace(TOKENS, learning_rate=1e-3, batch_size=16, epochs=1)
    expected = finetune(FinetuningJob(recipe, tiny, tokens, 1, "test"))
    assert list(read_jsonl_gz(output)) == expected.predictions
    report = read_json(output.with_name("seed-1.training.json"))
    assert report["recipe"] == expected.report["recipe"] == as_values(recipe)
    for key in ("loss_by_epoch", "steps", "model_sha256"):
        assert report[key] == expected.report[key]
    own = read_json(tmp_path / "kept/training.json")
    assert report == {**own, "predictions_sha256": sha256(output)}


def test_the_program_marks_a_run_for_which_nothing_could_be_chosen(
    tiny: Path, tokens: Path, tmp_path: Path
) -> None:
    """Its recipe lacks what was searched, such as the learning rate."""
    point = {"learning_rate": 0.1, "head_sizes": [], "mean_dev": None, "trials": 2, "failed": 2}
    selected = {"chosen": None, "failed": "nan", "mean_dev": None, "considered": [point]}
    recipe = {name: value for name, value in asdict(TOKENS).items() if name not in point}
    output = by_program(tmp_path, tiny, tokens, recipe, selected)
    expected = [{"id": one.id, "labels": None} for one in read_split(tokens, "test", TokensExample)]
    assert list(read_jsonl_gz(output)) == expected
    report = read_json(output.with_name("seed-1.training.json"))
    assert (report["failed"], report["search_failed"], report["start_failed"]) == ("nan", "nan", None)
    assert report["recipe"] == {**as_values(TOKENS), "learning_rate": None, "head_sizes": None}
    assert report["model_sha256"] and report["dev"]["best"] is None
    assert report.pop("predictions_sha256")
    assert read_json(tmp_path / "kept/training.json") == report


@pytest.mark.parametrize(("diverges", "trainings"), [([True], [48]), ([False, True], [48, 60])])
def test_a_run_that_diverged_is_not_trained_anew_and_has_failed(
    diverges: list[bool], trainings: list[int], tiny: Path, tokens: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trainings of so many examples, of which each diverges after its last look at dev, or doesn't."""
    original, seen = Trainer.train, list[int]()

    def train(
        self: Trainer, train: EncodedSplit, dev: EncodedSplit | None, passes: float | None = None
    ) -> FinetuningProgress:
        progress = original(self, train, dev, passes)
        progress.diverged = diverges[len(seen)]
        seen.append(len(train.examples))
        return progress

    monkeypatch.setattr(Trainer, "train", train)
    made = finetune(FinetuningJob(BOTH, tiny, tokens, 1, "test"))
    assert seen == trainings and made.report["failed"] == "nan" and made.report["dev"]["best"] is not None
    assert {row["labels"] for row in made.predictions} == {None}
    assert (made.report["steps_on_train_and_dev"] is None) == (len(trainings) == 1)


def test_the_labels_are_those_of_the_model_that_predicts(tiny: Path, tokens: Path, tmp_path: Path) -> None:
    """Here dev has a type that train lacks."""
    dataset = shutil.copytree(tokens, tmp_path / "data")
    examples = read_split(dataset, "dev", TokensExample)
    changed = [replace(one, labels=["B-New", *one.labels[1:]]) for one in examples]
    write_examples(dataset / "dev.jsonl.gz", changed)
    made = finetune(FinetuningJob(BOTH, tiny, dataset, 1, "test"))
    assert isinstance(made, Run)
    assert "B-New" in made.report["labels"] and made.report["labels"] == made.task.labels


def test_the_log_says_what_was_cut_and_how_long_inputs_are(
    tiny: Path, tokens: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = finetune(FinetuningJob(replace(TOKENS, max_length=12, **STILL), tiny, tokens, 1, "test"))
    assert f"windows split: {made.report['encoded']['windows_split']}" in (said := capsys.readouterr().err)
    assert "max_length" not in said and "without subword" not in said
    finetune(FinetuningJob(replace(TOKENS, max_length=512, **STILL), tiny, tokens, 1, "test"))
    said = capsys.readouterr().err
    assert "max_length: 64, for the encoder takes no more" in said and "windows" not in said


@pytest.mark.parametrize("recorded", [False, True])
def test_one_model_at_a_time_is_in_memory(
    recorded: bool, tiny: Path, tokens: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one, its optimiser and its best weights are gone before the second is trained."""
    train, held, progresses = Trainer.train, list[Any](), list[FinetuningProgress]()

    def trained(self: Trainer, *given: Any) -> FinetuningProgress:
        assert all(reference() is None for reference in held)
        assert all(one.best and not one.best_weights for one in progresses)
        held.extend(map(weakref.ref, (self, self.model, self.optimiser, *self.model.parameters())))
        progresses.append(train(self, *given))
        return progresses[-1]

    monkeypatch.setattr(Trainer, "train", trained)
    gc.disable()
    try:
        with on_gpu(FakeRecorder) if recorded else nullcontext():
            made = finetune(FinetuningJob(replace(BOTH, crf=True), tiny, tokens, 1, "test"))
    finally:
        gc.enable()
    assert made.report["steps_on_train_and_dev"] and len(progresses) == 2
