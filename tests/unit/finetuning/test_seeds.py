"""A run's job: its seeds give what each gives alone; what is done stays; a machine's fault ends it."""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pubmill.finetuning.trainer import Trainer
from pubmill.recipes.reading import as_json
from pubmill.storage.checksums import folder_sha256
from pubmill.storage.files import read_json, sha256
from tests.unit.finetuning.test_pairs import BASE, datasets
from tests.unit.programs import run_program

__all__ = ["datasets"]
SEEDS = (1, 2, 3, 4)
RECIPE = replace(BASE, dropout=0.2)
CUT = "seed-*.predictions.jsonl.gz"


@pytest.fixture(scope="module")
def arguments(tiny: Path, datasets: Path) -> Callable[..., list[str]]:
    def arguments(output: Path, *seeds: int, **changed: Any) -> list[str]:
        recipe = as_json(replace(RECIPE, **changed))
        places = ("--recipe", recipe, "--model", tiny, "--dataset", datasets / "tokens", "--split", "test")
        return list(map(str, [*places, "--output", output / "runs.json", "--seeds", *seeds]))

    return arguments


@pytest.fixture(scope="module")
def undisturbed(arguments: Callable[..., list[str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some seeds of one job, whose manifest names the files and the outcome of each."""
    folder = tmp_path_factory.mktemp("runs") / "final"
    run_program("finetune", *arguments(folder, *SEEDS))
    manifest, files = read_json(folder / "runs.json"), set(folder.iterdir()) - {folder / "runs.json"}
    assert [(one["seed"], one["failed"]) for one in manifest["seeds"]] == [(seed, None) for seed in SEEDS]
    assert manifest["files"] == {path.name: sha256(path) for path in files}
    return folder


@pytest.fixture
def done(undisturbed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(undisturbed, tmp_path / "final")


def predictions(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob(CUT))}


def times(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in sorted(folder.glob(CUT))}


def trained_again(folder: Path, before: dict[str, int]) -> list[int]:
    return [int(name[5]) for name, time in times(folder).items() if before.get(name) != time]


def test_a_seed_after_others_gives_what_it_gives_alone(
    root: Path, python: str, arguments: Callable[..., list[str]], undisturbed: Path, tmp_path: Path
) -> None:
    program = [python, str(root / "scripts/finetune.py"), *arguments(tmp_path / "alone", 3)]
    subprocess.run(program, check=True, capture_output=True, cwd=root)
    [(name, alone)] = predictions(tmp_path / "alone").items()
    assert predictions(undisturbed)[name] == alone and len(set(predictions(undisturbed).values())) > 1
    reports = [read_json(folder / "seed-3.training.json") for folder in (undisturbed, tmp_path / "alone")]
    for report in reports:
        for key in ("seconds", "tokens_per_second", "commit"):
            report.pop(key)
    assert reports[0] == reports[1]


def damage(folder: Path) -> None:
    (folder / "seed-2.predictions.jsonl.gz").write_bytes(b"")
    (folder / "seed-4.training.json").write_text("{}")


@pytest.mark.parametrize(
    ("seeds", "changed", "more", "again"),
    [
        ((1, 3, 6), {}, (), [6]), ((1, 2), {"learning_rate": 2e-3}, (), [1, 2]),
        ((1,), {}, ("--version", 4), [1]), ((2,), {}, ("--dataset", "other"), [2]),
        (SEEDS, {}, "damaged", [2, 4]),
    ],
    ids=["one more", "another recipe", "another stage version", "other data", "damaged"],
)  # fmt: skip
def test_only_what_is_new_is_trained(
    seeds: tuple[int, ...], changed: dict[str, Any], more: Any, again: list[int], datasets: Path,
    arguments: Callable[..., list[str]], done: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    before = times(done)
    monkeypatch.chdir(done.parent)
    other = shutil.copytree(datasets / "tokens", "other")
    shutil.copy(f"{other}/dev.jsonl.gz", f"{other}/train.jsonl.gz")
    if more == "damaged":
        damage(done)
    run_program("finetune", *arguments(done, *seeds, **changed), *(more if more != "damaged" else ()))
    assert trained_again(done, before) == again
    assert [one["seed"] for one in read_json(done / "runs.json")["seeds"]] == [*seeds]


def test_task_models_are_kept_by_the_same_job(arguments: Callable[..., list[str]], done: Path) -> None:
    before, expected = times(done), predictions(done)
    folders = [done.parent / f"models/seed-{seed}" for seed in (1, 2)]
    words = [*arguments(done, 1, 2, 3), "--keep", *folders]
    run_program("finetune", *words)
    assert trained_again(done, before) == [1, 2]
    kept = read_json(done / "runs.json")["seeds"][1]["model"]
    assert kept == {"folder": "../models/seed-2", "sha256": folder_sha256(folders[1])}
    before = times(done)
    run_program("finetune", *words)
    assert trained_again(done, before) == []
    (folders[1] / "head.safetensors").write_bytes(b"")
    run_program("finetune", *words)
    assert trained_again(done, before) == [2] and folder_sha256(folders[1]) == kept["sha256"]
    assert predictions(done) == expected


def failing(monkeypatch: pytest.MonkeyPatch, seed: int, error: Exception) -> None:
    train = Trainer.train

    def fail(self: Trainer, *given: Any, **named: Any) -> Any:
        if self.seed == seed:
            raise error
        return train(self, *given, **named)

    monkeypatch.setattr(Trainer, "train", fail)


def test_a_fault_of_the_machine_ends_the_job_and_keeps_what_is_done(
    arguments: Callable[..., list[str]], undisturbed: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "final"
    with pytest.MonkeyPatch.context() as patched:
        failing(patched, 2, RuntimeError("what nobody has seen yet"))
        with pytest.raises(SystemExit, match=r"seed-2 could not be trained: .*kept: seed-1. The same"):
            run_program("finetune", *arguments(folder, 1, 2, 3))
    assert sorted(predictions(folder)) == ["seed-1.predictions.jsonl.gz"]
    assert not (folder / "runs.json").exists()
    before = times(folder)
    run_program("finetune", *arguments(folder, 1, 2, 3))
    assert trained_again(folder, before) == [2, 3]
    assert predictions(folder).items() <= predictions(undisturbed).items()


def test_a_fault_of_the_model_is_an_outcome(
    arguments: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, 2, IndexError("index out of range in self"))
    run_program("finetune", *arguments(tmp_path / "final", 1, 2))
    failed = [one["failed"] for one in read_json(tmp_path / "final/runs.json")["seeds"]]
    assert failed == [None, "IndexError: index out of range in self"]
    before = times(tmp_path / "final")
    run_program("finetune", *arguments(tmp_path / "final", 1, 2))
    assert trained_again(tmp_path / "final", before) == []


def test_points_of_a_search_are_tried_by_one_job_and_stay_when_the_grid_changes(
    arguments: Callable[..., list[str]], tmp_path: Path
) -> None:
    def try_points(*rates: float) -> None:
        points = {f"learning_rate={rate}": replace(RECIPE, learning_rate=rate) for rate in rates}
        words = arguments(tmp_path, 1, 2)[2:]
        words[words.index("--output") + 1] = str(tmp_path / f"learning_rate={rates[0]}.json")
        run_program("finetune", "--trials", as_json({"points": points}), *words)

    try_points(1e-3, 2e-3)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob(f"*/{CUT}")}
    try_points(2e-3, 3e-3)
    manifest = read_json(tmp_path / "learning_rate=0.002.json")
    assert [one["predictions"].partition("/")[0] for one in manifest["seeds"]] == [
        *["learning_rate=0.002"] * 2, *["learning_rate=0.003"] * 2,
    ]  # fmt: skip
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
    selected = tmp_path / "selected.json"
    run_program(
        "select_trial", "--recipe", json.dumps({"by": "dev", "decides": ["learning_rate"]}),
        "--trials", tmp_path / "learning_rate=0.002.json", "--output", selected,
    )  # fmt: skip
    assert [one["learning_rate"] for one in read_json(selected)["considered"]] == [2e-3, 3e-3]
