"""Rules, queue and page of the speedrun (benchmarks/speedrun.py), on made-up records and those kept here."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import speedrun_page, speedrun_rules
from benchmarks.speedrun_processes import Processes
from benchmarks.speedrun_queue import BASELINE, Job, read_queue, ready_jobs, twin
from benchmarks.speedrun_rules import (
    RECORDS,
    TEXT,
    Records,
    SpeedRecord,
    SpeedRun,
    add_run,
    budget,
    outcome_of,
    p_value,
    read_records,
    write_records,
)
from pubmill.errors import PubmillError
from pubmill.recipes import PretrainingRecipe
from pubmill.recipes.reading import build
from pubmill.specs import load


def made_run(seed: int, loss: float, division: str = "1-minute", **changes: Any) -> SpeedRun:
    run = SpeedRun(
        seed=seed, loss=loss, operations=budget(division), processor_seconds=100.0, seconds=200.0, tokens=9,
        steps=10, curve=[[1.0, 5.0], [2.0, 4.0]], recipe=[{"seed": seed, "steps": 10}], commit="abc",
        text=TEXT, machine={}, packages={},
    )  # fmt: skip
    return replace(run, **changes)


def made_record(name: str, losses: list[float], **changes: Any) -> SpeedRecord:
    runs = [made_run(seed, loss) for seed, loss in enumerate(losses, 1)]
    return replace(SpeedRecord(name=name, division="1-minute", phases=[], runs=runs), **changes)


def test_losses_are_compared_by_one_rule_for_one_seed_and_for_three() -> None:
    base = made_record("base", [4.0, 4.01, 4.02])
    cases = {
        "better": [3.8], "worse": [4.2], "open": [3.99], "no difference shown": [4.0, 3.99, 4.03],
    }  # fmt: skip
    for outcome, losses in cases.items():
        assert outcome_of(made_record("other", losses), base)[0] == outcome
    assert outcome_of(made_record("other", [3.9, 3.91, 3.89]), base)[0] == "better"
    # one loss beside three: 8.04 of their deviations are needed
    assert p_value([4.01 - 0.0805], base.losses) == pytest.approx(0.01, rel=0.01)
    assert p_value([3.0], [4.0]) is None and p_value([3.0, 3.0], [4.0, 4.0]) is None


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"operations": 1.02}, "operations, the budget is"), ({"loss": math.inf}, "the loss is inf"),
        ({"text": {"tokens": "other"}}, "another text than that of the rules"),
        ({"recipe": [{"seed": 9, "steps": 10}]}, "the recipe has another seed"),
        ({"recipe": [{"seed": 2, "steps": 9, "batch_size": 3}]}, "another recipe than seed 1"),
        ({"curve": [[2.0, 4.0], [1.0, 5.0]]}, "the curve is not in order"),
    ],
)  # fmt: skip
def test_what_breaks_the_rules_is_reported(changes: dict[str, Any], fault: str) -> None:
    if "operations" in changes:
        changes = {"operations": changes["operations"] * budget("1-minute")}
    record = made_record("some", [4.0, 4.1])
    assert not list(speedrun_rules.faults_of(record))
    broken = replace(record, runs=[record.runs[0], replace(record.runs[1], **changes)])
    assert [one for one in speedrun_rules.faults_of(broken) if fault in one]


def test_runs_are_added_to_one_file(tmp_path: Path) -> None:
    path, record = tmp_path / "records.jsonl.gz", made_record("some", [])
    for seed in (2, 1, 2):
        record = add_run(record, made_run(seed, 4.0 + seed / 10), path)
    other = add_run(replace(record, runs=[], repeat=True), made_run(1, 4.15), path)
    assert [run.seed for run in record.runs] == [1, 2]
    assert read_records(path) == {("1-minute", "some"): record}
    assert read_records(path, repeats=True) == {("1-minute", "some"): other}
    broken = replace(record, runs=[replace(record.runs[0], loss=-4.1)])
    write_records(path, [broken, other])
    for repeats in (False, True):
        with pytest.raises(PubmillError, match="z: 1-minute/some: seed 1: the loss is -4.1"):
            read_records(path, repeats)


def test_the_records_kept_here_are_one_file_that_its_program_writes(tmp_path: Path) -> None:
    known = [one for repeats in (False, True) for one in read_records(repeats=repeats).values()]
    write_records(tmp_path / "again.jsonl.gz", known)
    assert len(known) > 90 and (tmp_path / "again.jsonl.gz").read_bytes() == RECORDS.read_bytes()


def worked_off(losses: Callable[[Job], float]) -> list[Job]:
    queue, records, found = read_queue(), Records(), list[Job]()
    while jobs := ready_jobs(queue, records):
        for job in jobs:
            run = twin(job, records) or made_run(job.seed, losses(job), job.division)
            place = job.division, job.name
            old = records.get(place) or SpeedRecord(
                name=job.name, division=job.division, phases=job.phases, against=job.against, runs=[]
            )
            assert old.phases == job.phases
            records[place] = replace(old, runs=[*old.runs, run])
        found += jobs
    return found


def loss_of(job: Job) -> float:
    """A little spread by seeds; Muon helps much, a rate of 1.5e-3 some, and no other change."""
    optimisation = job.phases[-1]["recipe"]["optimisation"]
    rate: float = abs(optimisation["learning_rate"] - 1.5e-3)
    return 4.0 + 0.001 * job.seed + rate - (0.5 if optimisation.get("optimiser") == "muon" else 0.0)


def test_the_queue_searches_first_and_repeats_what_one_seed_does_not_decide() -> None:
    done = worked_off(loss_of)
    jobs = {(job.division, job.name, job.seed): job for job in done}
    assert len(jobs) == len(done)
    optimisation = jobs["5-minutes", BASELINE, 1].phases[-1]["recipe"]["optimisation"]
    assert optimisation["learning_rate"] == pytest.approx(1.5e-3)
    assert ("5-minutes", "muon", 2) not in jobs and ("5-minutes", "masking-30", 3) in jobs
    muon = jobs["5-minutes", "muon", 1]
    assert muon.phases[-1]["recipe"]["optimisation"]["optimiser"] == "muon"
    assert muon.against == "5-minutes/baseline"
    for job in done:
        assert sum(phase["share"] for phase in job.phases) == pytest.approx(1.0)
        for phase in job.phases:
            build(PretrainingRecipe, phase["recipe"] | {"steps": 1, "seed": job.seed}, job.name)


def test_the_page_has_every_record_that_is_kept_here() -> None:
    speedrun_page.check_page(write=False)
    page = speedrun_page.records_page("<!-- written -->")
    for division, name in read_records():
        assert f"| {name.removeprefix('search.')} | {division} |" in page
    assert "| baseline, 15-minutes | 1 |" in page
    with pytest.raises(PubmillError, match="lacks the table"):
        speedrun_page.page_with("# Speedrun\n", {"tasks": speedrun_page.tasks_table({})})


def test_repeats_stand_beside_their_records_and_scores_by_model() -> None:
    records = {("1-minute", "some"): made_record("some", [4.0, 4.1])}
    repeated = {("1-minute", "some"): made_record("some", [4.02])}
    assert "| some, 1-minute | 1 | 4.000 | 4.020 | 100 | 96 |" in speedrun_page.repeats_table(
        records, repeated
    )
    scores = [{"place": "1-minute/some", "dataset": "bc2gm", "score": score} for score in (0.5, 0.6, None)]
    assert "| some, 1-minute |  |  | 55.0 ± 7.1 (2) |  |" in speedrun_page.tasks_table(
        speedrun_page.by_model(scores)
    )
    baseline = made_record("baseline", [4.0], division="5-minutes")
    assert "<circle" in speedrun_page.ladder_figure({("5-minutes", "x"): baseline})
    curves = {("15-minutes", name): made_record(name, [4.0]) for name in ("baseline", "start")}
    assert speedrun_page.curves_figure(curves).count("<polyline") == 2 and speedrun_page.curves_figure(
        {}
    ).startswith("<svg")


@pytest.mark.parametrize(
    ("name", "specs"),
    [
        ("start", ["speedrun-start"]), ("baseline", ["speedrun-baseline"]),
        ("combined", ["pubmill-small-short", "pubmill-small"]),
    ],
)  # fmt: skip
def test_the_recipes_of_the_table_are_those_of_the_records(name: str, specs: list[str]) -> None:
    """With the steps of the first seed: other seeds have up to five more or fewer."""
    found = load(Path("specs"), "speedrun").pretraining
    [run] = [run for run in read_records()["15-minutes", name].runs if run.seed == 1]
    made = [build(PretrainingRecipe, values, name) for values in run.recipe]
    assert [found[spec].recipe for spec in specs] == made


def test_a_failed_process_is_named() -> None:
    def fail() -> None:
        raise PubmillError("no memory")

    with Processes() as several:
        several.begin("5-minutes/some/1", fail)
        with pytest.raises(PubmillError, match="5-minutes/some/1 ended with 1"):
            several.next_to_end()
