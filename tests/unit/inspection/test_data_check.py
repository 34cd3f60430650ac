"""Data check: equal and different datasets, datasets that cannot be checked, continuing after a failure."""

import hashlib
from pathlib import Path

import pytest
from rich.console import Console

from pubmill.inspection import data_checks
from pubmill.specs.study import check_study
from pubmill.stages import Graph
from tests.licensed import APPLY, FILES, KEY, NAME, SENTENCE, TEXTS
from tests.world.part import CANARY

HASHES = {split: hashlib.sha256(text.encode()).hexdigest() for split, text in TEXTS.items()}
PUBLISHED = f"""
published:
  writer: pubmill.convert.conll:write
  options: {{documents: docstart}}
  files:
    train: {{name: train.tsv, sha256: "{HASHES["train"]}"}}
    dev: {{name: dev.tsv}}
"""


def edit(specs: Path, old: str, new: str) -> None:
    path = specs / f"datasets/{NAME}.yaml"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def planned(
    specs: Path, folder: Path | None, *names: str
) -> tuple[list[data_checks.DatasetCheck], dict[str, str]]:
    local = {KEY: str(folder)} if folder else {}
    study = {"study": "x", "title": "", "scale": "full", "tables": [], "local_files": local}
    return data_checks.plan(Graph(*check_study(study, specs)), names or [NAME])


def outcome(specs: Path, folder: Path) -> data_checks.CheckOutcome:
    ((task,), _) = planned(specs, folder)
    return data_checks.check(task)


def printed(outcomes: list[data_checks.CheckOutcome], unchecked: dict[str, str]) -> str:
    console = Console(width=200, record=True)
    data_checks.print_outcomes(console, outcomes, unchecked)
    return console.export_text()


def test_counts_and_published_bytes_that_are_equal(specs: Path, folder: Path) -> None:
    edit(specs, "metric:", PUBLISHED.lstrip() + "metric:")
    found = outcome(specs, folder)
    assert found.faults == []
    assert [(s.split, s.has_form, s.hash) for s in found.splits] == [
        ("train", True, True), ("dev", True, None), ("test", False, None),
    ]  # fmt: skip
    assert "as expected: 1 of 1 dataset, 3 of 3 counts and 1 of 1 known hash;" in printed([found], {})


def test_counts_and_published_bytes_that_differ_are_reported_and_shown(specs: Path, folder: Path) -> None:
    edit(specs, "dev: {mentions: 1}", "dev: {mentions: 7, tokens: 2, sentences: 1}")
    edit(specs, "metric:", PUBLISHED.lstrip() + "metric:")
    edit(specs, HASHES["train"], "a" * 64)
    found = outcome(specs, folder)
    assert "dev mentions: expected 7, found 1, difference -6" in found.faults[0]
    assert any(f"expected sha256 {'a' * 64}, found {HASHES['train']}" in fault for fault in found.faults)
    assert [s.hash for s in found.splits] == [False, None, None]
    assert "as expected: 0 of 1 dataset, 4 of 5 counts" in data_checks.totals([found], {})


def test_a_changed_source_file_is_not_converted(specs: Path, folder: Path) -> None:
    edit(specs, f"file: {FILES['dev']}", f"file: {FILES['dev']}, sha256: {'a' * 64}")
    found = outcome(specs, folder)
    assert "not the expected file" in found.faults[0] and "sha256: expected aaa" in found.faults[0]
    assert all(split.found is None for split in found.splits)
    assert "not converted" in printed([found], {})


def test_the_check_continues_after_a_failure(specs: Path, folder: Path, tmp_path: Path) -> None:
    other = (specs / f"datasets/{NAME}.yaml").read_text().replace(NAME, "other")
    (specs / "datasets/other.yaml").write_text(other.replace(KEY, "other-key"))
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for name in FILES.values():
        (damaged / name).write_text(SENTENCE + f"{CANARY} {CANARY}\n")
    study = {"study": "x", "title": "", "scale": "full", "tables": []}
    config = {**study, "local_files": {KEY: str(folder), "other-key": str(damaged)}}
    tasks, _ = data_checks.plan(Graph(*check_study(config, specs)), [NAME, "other"])
    assert [task.recipe.dataset for task in tasks] == ["other", NAME], "the biggest comes first"
    found = {one.dataset: one for one in data_checks.check_all(tasks, 2)}
    assert found[NAME].faults == [] and f"{FILES['train']}:4" in found["other"].faults[0]
    text = printed(list(found.values()), {})
    assert CANARY not in text and "1 of 2 datasets" in text


@pytest.mark.parametrize("at", ["convert", "publish"])
def test_an_unforeseen_error_shows_no_licensed_text(
    specs: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    def fail(*arguments: object) -> None:
        raise KeyError(f"{CANARY} is not there")

    edit(specs, "metric:", PUBLISHED.lstrip() + "metric:")
    monkeypatch.setattr(data_checks, at, fail)
    (fault,) = outcome(specs, folder).faults
    assert "KeyError at test_data_check.py" in fault and CANARY not in fault
    edit(specs, f"access: credentialed\napply: {APPLY}", "access: public")
    (fault,) = outcome(specs, folder).faults
    assert "is not there" in fault


def test_what_is_absent_is_named_with_where_to_apply(specs: Path) -> None:
    tasks, why = planned(specs, None, NAME, "bc2gm")
    assert not tasks
    assert f"credentialed: apply at {APPLY}, then give LOCAL={KEY}=FOLDER" in why[NAME]
    assert all(name in why[NAME] for name in FILES.values())
    assert "absent: https://raw.githubusercontent.com/" in why["bc2gm"] and "and 2 more" in why["bc2gm"]
    text = printed([], why)
    assert APPLY in text and "not checked: 2 datasets" in text
