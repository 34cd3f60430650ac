"""The printed plan, with numbers that are made up; costs of jobs and of a PubMed source."""

import io
from dataclasses import replace
from typing import Any, cast

import pytest
from rich.console import Console

from pubmill.messages.terminal_tables import coloured
from pubmill.planning.plan import LongestBatch, Plan, Training
from pubmill.planning.plan_printing import SHOWN_RUNS, print_plan, recipes_as_markdown, shown
from pubmill.recipes import Architecture
from pubmill.stages import Graph
from pubmill.stages.gpus import Gpus
from pubmill.stages.stage import ASSUMED, Seconds

GPUS = Gpus({"A": 1e12, "B": 2e12}, {"pretraining": 0.5, "finetuning": 0.25})
SMALL, BIG = Training("small", 2, 0, 3.6e15, 7.2e15), Training("big", 1000, 3, 3.6e16, 1.44e17)
HOURS = {"table": Seconds(6, "a"), "other": Seconds(36_000, "b")}


class Study:
    """What a plan asks of its study."""

    def left_out(self) -> list[str]:
        return ["left out: x"]


def lines(plan: Plan, gpus: Gpus = GPUS) -> list[str]:
    said = io.StringIO()
    print_plan(Console(file=said, width=160, highlight=False), plan, cast(Graph, Study()), gpus)
    return [" ".join(line.split()) for line in said.getvalue().splitlines() if line.strip(" ─━")]


def test_hours_have_two_digits() -> None:
    assert [shown(number) for number in (0, 0.009, 0.0449, 9.94, 10.0, 1234.5)] == [
        "0.0", "<0.01", "0.045", "9.9", "10", "1,234",
    ]  # fmt: skip


def test_a_plan_begins_with_its_answer() -> None:
    plan = Plan(each=HOURS, pretraining={"small": SMALL}, finetuning={"big": BIG})
    plan.bytes_known, plan.bytes_assumed, plan.files_unknown, plan.disk = 1.25e9, 5.67e9, 1000, 8.9e9
    plan.to_do.update(table=1200)
    assert lines(plan)[:5] == [
        "GPU-hours: 21 of one B, 42 of one A; not counted: 3 trainings of unknown size", "CPU-hours: 2.0",
        "to fetch: 6.9 GB (1.2 of known size); not counted: 1,000 files of unknown size",
        "on disk: 8.9 GB (assumed); not counted: 1,000 files of unknown size",
        "jobs: 1,200 to do, 0 done already",
    ]  # fmt: skip
    assert lines(Plan())[0] == "GPU-hours: none"


def test_what_is_assumed_or_left_out_stands_in_the_answer() -> None:
    plan = Plan(each={"table": ASSUMED, "score": Seconds(9, "measured")})
    plan.to_do.update(table=720, score=1)
    found = lines(plan)
    assert found[1] == "CPU-hours: 1.0 (720 jobs at 5 s, which is assumed)"
    assert found[4:6] == ["jobs: 721 to do, 0 done already", "left out: x"]


def test_rules_have_jobs_and_hours_and_their_sources_follow() -> None:
    plan = Plan(each=HOURS | {"pretrain": Seconds(7200, "a")}, pretraining={"small": SMALL})
    plan.to_do.update(table=1200, other=1, pretrain=2)
    plan.there.update(table=1, convert=5)
    found = lines(plan)
    assert found[6:11] == [
        "rule to do done s a job CPU-hours", "pretrain 2 0 7,200", "convert 0 5", "table 1,200 1 6 2.0",
        "other 1 0 36,000 10",
    ]  # fmt: skip
    sources = ["seconds of pretrain, table: a", "seconds of other: b"]
    assert found[found.index("Where the figures come from") + 1 :][:2] == sources


def test_trainings_have_hours_and_their_sources_follow() -> None:
    found = lines(Plan(pretraining={"small": SMALL}, finetuning={"small": SMALL, "big": BIG}))
    first = found.index("Pretraining: GPU-hours jobs A B")
    assert found[first + 1 :][:2] == ["small 2 2.0 1.0", "all 2 2.0 1.0"]
    assert found[first + 3 :][:4] == [
        "Fine-tuning: GPU-hours jobs A B", "small 2 2.0 1.0", "big 1,000 40 20", "all 1,002 42 21",
    ]  # fmt: skip
    assert found[first + 8] == "pretraining: assumed: 50% of the peak"
    assert found[first + 9].startswith("fine-tuning: assumed: 25% of the peak; number of examples: from")


def test_batches_that_a_gpu_divides_are_shown_and_unknown_lengths_are_named() -> None:
    gpus = replace(GPUS, memory={"A": 16e9, "B": 40e9}, weights={"A": "float32", "B": "bfloat16"})
    long, wide = LongestBatch("p", 8_192, 16, 12, 768, 10**8), LongestBatch("q", 8_192, 2, 12, 4096, 10**8)
    found = lines(Plan(batches={long, wide, long._replace(length=None)}), gpus)
    first = found.index("Fine-tuning: parts of a batch of the longest inputs layers x width A B")
    assert found[first:][:3] == [
        "Fine-tuning: parts of a batch of the longest inputs layers x width A B",
        "p: 16 of 8,192 tokens 12 x 768 16 4", "q: 2 of 8,192 tokens 12 x 4096 too large 2",
    ]  # fmt: skip
    assert sum(line.startswith("parts of a batch: ") for line in found) == 2
    assert not any("parts of a batch" in line for line in lines(Plan(batches={long})))


@pytest.mark.parametrize(("number", "more"), [(SHOWN_RUNS, []), (SHOWN_RUNS + 2, ["and 2 more"])])
def test_finished_trainings_are_listed_up_to_a_limit(number: int, more: list[str]) -> None:
    found = lines(Plan(runs_there=[f"run {i:02d}" for i in reversed(range(number))]))
    first = found.index(f"{number} trainings will not run again")
    assert found[first + 1 :] == [*(f"run {i:02d}" for i in range(20)), *more]


def test_recipes_are_a_table_of_markdown() -> None:
    assert recipes_as_markdown([SMALL], GPUS) == [
        "| recipe | operations | A-hours | B-hours |", "|---|---|---|---|",
        "| `small` | 3.6e+15 | 2.0 | 1.0 |",
    ]  # fmt: skip


@pytest.mark.parametrize(("family", "hidden", "length", "share"), [
    ("bert", 768, 128, 0.1), ("bert", 768, 255, 0.1), ("bert", 768, 256, 0.2), ("roberta", 1023, 128, 0.1),
    ("bert", 1024, 128, 0.3), ("albert", 4096, 512, 0.4), ("electra", 768, 512, 0.6),
    ("electra", 768, 128, 0.5),
])  # fmt: skip
def test_the_nearest_case_of_the_benchmark_gives_the_share(
    family: Any, hidden: int, length: int, share: float
) -> None:
    measured = {
        ("BERT-base", 128): 0.1, ("BERT-base", 512): 0.2, ("BERT-large", 128): 0.3,
        ("ALBERT-xxlarge", 512): 0.4, ("ELECTRA-base", 512): 0.6,
    }  # fmt: skip
    gpus = Gpus({"A": 1e12}, {"pretraining": 0.5, "finetuning": 0.25}, "A", measured)
    architecture = Architecture(
        family=family, layers=1, hidden_size=hidden, attention_heads=1, intermediate_size=4
    )
    assert gpus.share(architecture, length) == share
    assert gpus.share_of_finetuning("tokens") == 0.25
    assert gpus.share_source("finetuning") == "assumed: 25% of the peak"
    assert gpus.share_source("pretraining").startswith("measured on A")


@pytest.mark.parametrize(("good", "style"), [(True, "green"), (False, "bold red"), (None, "dim")])
def test_colours_stand_for_good_and_bad(good: bool | None, style: str) -> None:
    made = coloured("text", good)
    assert (made.plain, made.style) == ("text", style)
