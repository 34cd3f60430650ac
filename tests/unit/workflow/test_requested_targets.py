"""Targets of the command line: those that name no spec are refused before the graph is built."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.specs.study import check_study
from pubmill.stages import Graph, checked_graph
from pubmill.workflow.requested_targets import check_asked


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
