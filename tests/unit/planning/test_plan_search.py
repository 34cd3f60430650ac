"""The share of a run that searches for hyper-parameters."""

from pathlib import Path
from typing import Any

from pubmill.planning.plan import ADVICE, Job, search_lines
from pubmill.specs.study import check_study
from pubmill.stages import Graph


def graph(root: Path, **study: Any) -> Graph:
    config = {"study": "x", "title": "x", "scale": "full", "tables": ["gu2020/table06"], **study}
    return Graph(*check_study(config, root / "specs"))


def trial(model: str, to_do: bool = True) -> Job:
    return Job("trial", {"model": model}, to_do)


def test_trials_are_counted_by_model(root: Path) -> None:
    jobs = [trial("bert-base-uncased"), trial("biobert-base"), trial("biobert-base")]
    others = [trial("scibert-cased", to_do=False), Job("finetune", {"model": "scibert-cased"}, True)]
    choices = [Job("choose", {"dataset": "bc2gm"}, True), Job("choose", {"dataset": "jnlpba"}, False)]
    line, *advice = search_lines([*jobs, *others, *choices], graph(root, own_tables="mine"))
    assert line == "4 of 5 jobs: trials with BioBERT and BERT, uncased"
    assert tuple(advice) == ADVICE
    [alone] = search_lines([trial("biobert-base")], graph(root, own_tables="mine", search="own"))
    assert search_lines([trial("biobert-base")], graph(root)) == [alone]
    assert alone == "1 of 1 job: trials with BioBERT"


def test_a_run_without_trials_says_nothing(root: Path) -> None:
    assert search_lines([Job("table", {}, True), trial("biobert-base", to_do=False)], graph(root)) == []
