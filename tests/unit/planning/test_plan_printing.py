"""The printed plan, with numbers that are made up; costs of jobs and of a PubMed source."""

import io
from dataclasses import replace
from typing import Any, cast

import pytest
from pubmill.planning.pubmed_plan import PubmedPlan
from rich.console import Console

from pubmill.planning import pubmed_plan
from pubmill.planning.batch_plan import LongestBatch
from pubmill.planning.plan import Plan, Training, hours
from pubmill.planning.plan_printing import SHOWN_RUNS, print_plan, recipes_as_markdown, shown
from pubmill.planning.terminal_tables import coloured
from pubmill.recipes import Architecture
from pubmill.stages import Graph, costs
from pubmill.stages.all_stages import stages
from pubmill.stages.gpus import Gpus
from pubmill.stages.stage import ASSUMED

GPUS = Gpus({"A": 1e12, "B": 2e12}, {"pretraining": 0.5, "finetuning": 0.25})
SMALL, BIG = Training("small", 0.5, 2, 0, 3.6e15), Training("big", 0.25, 1000, 3, 3.6e16)


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


def test_hours_of_trainings_are_added_up() -> None:
    assert hours([SMALL, BIG], GPUS) == pytest.approx({"A": 2 + 40, "B": 1 + 20})


def test_a_plan_begins_with_its_answer() -> None:
    plan = Plan(seconds={"tables": 7200.0}, pretraining={"small": SMALL}, finetuning={"big": BIG})
    plan.bytes_known, plan.bytes_assumed, plan.files_unknown, plan.disk = 1.25e9, 5.67e9, 1000, 8.9e9
    plan.to_do.update(tables=1200)
    assert lines(plan)[:5] == [
        "GPU-hours: 21 of one B, 42 of one A",
        "CPU-hours: 2.0",
        "to fetch: 6.9 GB (1.2 of known size) and 1,000 files of unknown size",
        "on disk: 8.9 GB (assumed) and 1,000 files of unknown size",
        "jobs: 1,200 to do, 0 done already",
    ]
    assert lines(Plan())[0] == "GPU-hours: none"


def test_stages_have_jobs_and_hours_and_their_sources_follow() -> None:
    plan = Plan(seconds={"tables": 7200.0, "other": 36000.0}, sources={"tables": {"b", "a"}, "other": {"a"}})
    plan.to_do.update(tables=1200, other=1)
    plan.there.update(tables=1, convert=5)
    found = lines(plan)
    assert found[5:9] == ["stage to do done CPU-hours", "convert 0 5", "tables 1,200 1 2.0", "other 1 0 10"]
    sources = ["CPU-hours of tables, other: a", "CPU-hours of tables: b", "left out: x"]
    assert found[9:] == ["Where the figures come from", *sources]


def test_trainings_have_hours_and_their_sources_and_unknown_sizes_follow() -> None:
    found = lines(Plan(pretraining={"small": SMALL}, finetuning={"small": SMALL, "big": BIG}))
    assert found[6:9] == ["Pretraining: GPU-hours jobs A B", "small 2 2.0 1.0", "all 2 2.0 1.0"]
    assert found[9:13] == [
        "Fine-tuning: GPU-hours jobs A B",
        "small 2 2.0 1.0",
        "big 1,000 40 20",
        "all 1,002 42 21",
    ]
    assert found[14] == "pretraining: assumed: 50% of the peak"
    assert found[15].startswith("fine-tuning: assumed: 25% of the peak; number of examples: from the specs")
    assert found[16] == "3 trainings of unknown size not in the hours"


def test_batches_that_a_gpu_divides_are_shown_and_unknown_lengths_are_named() -> None:
    gpus = replace(GPUS, memory={"A": 16e9, "B": 40e9}, weights={"A": "float32", "B": "bfloat16"})
    long, wide = LongestBatch("p", 8_192, 16, 12, 768, 10**8), LongestBatch("q", 8_192, 2, 12, 4096, 10**8)
    found = lines(Plan(batches={long, wide, long._replace(length=None)}), gpus)
    assert found[6:9] == [
        "Fine-tuning: parts of a batch of the longest inputs layers x width A B",
        "p: 16 of 8,192 tokens 12 x 768 16 4",
        "q: 2 of 8,192 tokens 12 x 4096 too large 2",
    ]
    assert sum(line.startswith("parts of a batch: ") for line in found) == 2
    assert not any("parts of a batch" in line for line in lines(Plan(batches={long})))


@pytest.mark.parametrize(("number", "more"), [(SHOWN_RUNS, []), (SHOWN_RUNS + 2, ["and 2 more"])])
def test_finished_trainings_are_listed_up_to_a_limit(number: int, more: list[str]) -> None:
    found = lines(Plan(runs_there=[f"run {i:02d}" for i in reversed(range(number))]))
    assert found[7] == f"{number} trainings will not run again"
    assert found[8:] == [*(f"run {i:02d}" for i in range(20)), *more, "left out: x"]


def test_recipes_are_a_table_of_markdown() -> None:
    assert recipes_as_markdown([SMALL], GPUS) == [
        "| recipe | operations | A-hours | B-hours |",
        "|---|---|---|---|",
        "| `small` | 3.6e+15 | 2.0 | 1.0 |",
    ]


@pytest.mark.parametrize(
    ("family", "hidden", "length", "share"),
    [
        ("bert", 768, 128, 0.1), ("bert", 768, 255, 0.1), ("bert", 768, 256, 0.2),
        ("roberta", 1023, 128, 0.1),
        ("bert", 1024, 128, 0.3), ("albert", 4096, 512, 0.4),
        ("electra", 768, 512, 0.6), ("electra", 768, 128, 0.5),
    ],
)  # fmt: skip
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
    assert gpus.share(architecture, length, "finetuning") == 0.25
    assert gpus.share_source("finetuning") == "assumed: 25% of the peak"
    assert gpus.share_source("pretraining").startswith("measured on A")


def test_costs_of_rules_are_those_that_were_measured() -> None:
    """Seconds of one core, from the rates of benchmarks/README.md."""
    measured = {rule: one.seconds for rule, one in stages().items() if one.seconds != ASSUMED}
    assert {rule: round(cost.seconds, 2) for rule, cost in measured.items()} == {
        "parse_medline": 4.6, "select_documents": 1.9, "fingerprint": 4.11, "find_contamination": 195.92,
        "count_words": 2.11, "latest_versions": 60, "parse_pmc": 4.62, "pack": 600,
    }  # fmt: skip
    assert ASSUMED.seconds == 5 and costs.PUBMED_FILE == 39e6 and round(costs.PACKED) == 11_400_000
    assert costs.PMC_SHARD == 150e6


def made(**changes: Any) -> PubmedPlan:
    values: dict[str, Any] = {"files": 1200, "known_bytes": 0, "unknown": 0, "absent": (), "problems": ()}
    return PubmedPlan("pubmed", **values | changes)


def test_reading_is_spread_over_cores_and_merging_is_one_job() -> None:
    assert made().hours(2) == pytest.approx({"parse": 1.0, "merge versions": 1 / 30, "select": 2.5 / 6})
    assert list(made().lines(2, 100))[1:] == [
        "  parse: 1.0 h on 2 of 2 cores", "  merge versions: 0.0 h on 1 of 2 cores",
        "  select: 0.4 h on 2 of 2 cores",
    ]  # fmt: skip
    assert set(pubmed_plan.SECONDS) == set(made().hours(1))


def test_a_download_has_its_bytes_hours_and_what_is_unknown() -> None:
    found = list(made(known_bytes=45_000_000_000, unknown=1).lines(1, 100))
    assert found[0] == "pubmed: 1,200 files to download: 45.00 GB, and 1 file of unknown size"
    assert found[1] == "  download: 1.0 h for the known bytes, at 100 Mbit/s"
    assert next(made(unknown=2000).lines(1, 1)).endswith("0.00 GB, and 2,000 files of unknown size")
    assert next(made().lines(1, 1)).endswith("0.00 GB")


@pytest.mark.parametrize(("number", "end"), [(5, "4; list"), (7, "4 and 2 more; list")])
def test_files_that_the_server_lacks_are_named_up_to_five(number: int, end: str) -> None:
    found = list(made(absent=tuple(map(str, range(number))), problems=("no listing",)).lines(1, 1))
    assert found[1] == "  sizes unknown: no listing"
    assert found[2].startswith(f"  not on the server: 0, 1, 2, 3, {end} its files with `")


@pytest.mark.parametrize(("good", "style"), [(True, "green"), (False, "bold red"), (None, "dim")])
def test_colours_stand_for_good_and_bad(good: bool | None, style: str) -> None:
    made = coloured("text", good)
    assert (made.plain, made.style) == ("text", style)
