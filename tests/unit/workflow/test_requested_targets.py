"""Targets of the command line: those that name no spec are refused before the graph is built."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill.errors import PubmillError
from pubmill.specs.study import check_study
from pubmill.stages import Graph, checked_graph
from pubmill.workflow.requested_targets import check_asked, check_requested
from pubmill.workflow.snakemake_hooks import before_graph


@pytest.fixture(scope="module")
def targets(root: Path) -> Graph:
    study = {"study": "x", "title": "x", "scale": "demo", "tables": ["gu2020/table06"]}
    return checked_graph(*check_study({**study, "models": ["no-pretraining"]}, root / "specs"))


def check(below: str, targets: Graph, root: Path) -> None:
    check_asked([targets.paths.at(below)], [], [], {}, targets, root / "studies")


@pytest.mark.parametrize(
    "below",
    [
        "pretraining/tokens/pubmed-abstracts/pubmed-uncased/ids.bin",
        "corpora/parsed/pubmed/pubmed26n0001.parquet",
        "runs/blurb/selected/bc2gm/standard.json",
        "runs/off-the-shelf/pubmedbert-base/bc2gm/as-it-is/final/seed-1.json",
        "tables/gu2020/table06.comparisons.json",
        "tables/gu2020/table02.html",
    ],
)
def test_folders_that_name_no_spec_are_no_mistakes(below: str, targets: Graph, root: Path) -> None:
    check(below, targets, root)


@pytest.mark.parametrize(
    ("below", "message"),
    [
        ("models/pubmedbert/config.json", "there is no model 'pubmedbert'"),
        ("corpora/pubmedx/stats.json", "there is no corpus 'pubmedx'"),
        ("vocabs/none/on/bc2gm.json", "there is no vocabulary 'none'"),
        ("pretraining/tokens/none/pubmed-uncased/ids.bin", "there is no corpus 'none'"),
        ("pretraining/none/step-1/state.json", "there is no recipe of pretraining 'none'"),
        ("runs/none/selected/bc2gm/standard.json", "there is no protocol 'none'"),
        ("tables/gu2020/table99.html", "there is no table 'gu2020/table99'"),
        ("pages/datasets/bc2.html", "there is no dataset 'bc2'"),
    ],
)
def test_unknown_names_are_refused(below: str, message: str, targets: Graph, root: Path) -> None:
    with pytest.raises(PubmillError, match=message):
        check(below, targets, root)


def test_targets_are_checked_before_the_graph_is_built(targets: Graph, root: Path) -> None:
    """The rules and files of the command line are known only then."""
    built: list[str] = []
    prepared: list[str] = []

    class Rule:
        def __init__(self, name: str, output: str) -> None:
            self.name, self.output = name, [output]

        def has_wildcards(self) -> bool:
            return "{" in self.output[0]

    card = Rule("convert", "results/demo/datasets/{dataset,[a-z]+}/card.json")
    page = Rule("report", "results/demo/reports/x.html")
    index = SimpleNamespace(match_producers=lambda file: [card] if "card" in file else [])

    def check(files: list[str], rules: list[Rule]) -> None:
        dag = SimpleNamespace(targetfiles=files, targetrules=rules, output_index=index)
        workflow = SimpleNamespace(dag=dag, rules=[card, page], _build_dag=lambda: built.append("built"))
        before_graph(
            workflow,
            lambda: prepared.append("files"),
            partial(check_requested, workflow, targets, root / "studies"),
        )
        assert not built, "not before the workflow asks for it"
        workflow._build_dag()

    check(["results/demo/datasets/bc2gm/card.json"], [page])
    assert built.pop() == "built"
    with pytest.raises(
        SystemExit, match="rule convert makes many files; .* path: results/demo/datasets/.dataset"
    ):
        check([], [card])
    with pytest.raises(SystemExit, match="there is no dataset 'bc3gm'"):
        check(["results/demo/datasets/bc3gm/card.json"], [])
    with pytest.raises(SystemExit, match="no rule has this name, and no rule makes this file"):
        check(["results/demo/reports/y.html"], [])
    assert not built and prepared == ["files"] * 4
