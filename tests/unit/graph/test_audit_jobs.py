"""The counts that published values are audited by, and when the audit belongs to a study."""

from pathlib import Path

import pytest

from pubmill.graph import checked_graph
from pubmill.graph.audit_jobs import score_counts
from pubmill.recipes.audits import ScoreCounts
from pubmill.specs import Specs, load
from pubmill.specs.study import Study

SPECS = Path(__file__).parents[3] / "specs"


@pytest.fixture(scope="module")
def specs() -> Specs:
    return load(SPECS, "full")


@pytest.mark.parametrize(
    ("dataset", "metric", "counts"),
    [
        ("bioasq-yesno", "accuracy", ScoreCounts(kind="share", sizes=(140,))),
        ("bioasq-factoid@7b-biobert", "mrr", ScoreCounts(kind="reciprocal_rank", sizes=(162,))),
        ("ncbi-disease", "entity_f1", ScoreCounts(kind="f1", sizes=(960,))),
        ("ncbi-disease", "entity_recall", ScoreCounts(kind="share", sizes=(960,))),
        ("gad@blurb", "micro_f1", ScoreCounts(kind="f1", sizes=(281,), wrong=253)),
        ("chemprot@blurb", "micro_f1", ScoreCounts(kind="f1", sizes=(3430,), wrong=15_745)),
        ("chemprot@blurb", "micro_recall", ScoreCounts(kind="share", sizes=(3430,))),
        ("hoc@blurb", "micro_f1", ScoreCounts(kind="f1", sizes=(484,), wrong=3226)),
        ("ebm-pico", "word_macro_f1", ScoreCounts(kind="mean_f1", sizes=(4711, 3563, 8090))),
        ("biosses", "pearson", ScoreCounts(kind="correlation")),
        ("i2b2-2010", "entity_f1", "the spec of i2b2-2010 has no number of mentions of the scored split"),
        ("i2b2-2010-re", "micro_f1", "the spec of i2b2-2010-re has no number of labels of the scored split"),
        (
            "bc5-chem",
            "word_macro_f1",
            "the spec of bc5-chem has no number of labelled words of the scored split",
        ),
    ],
)
def test_counts_of_a_score(specs: Specs, dataset: str, metric: str, counts: ScoreCounts | str) -> None:
    assert score_counts(specs.datasets[dataset], metric, specs.protocols["blurb"]) == counts


def test_a_score_without_a_test_has_a_reason(specs: Specs) -> None:
    found = score_counts(specs.datasets["hoc@blue"], "example_f1", specs.protocols["lewis2020"])
    assert isinstance(found, str) and "over documents" in found
    assert score_counts(specs.datasets["biosses"], "rare", specs.protocols["blurb"]) == "no test for rare"


def test_the_audit_belongs_to_comparable_studies_with_tables_of_results(specs: Specs) -> None:
    for scale, table, count in (("full", "table06", 3), ("full", "table03", 0), ("demo", "table06", 0)):
        study = Study(study="x", title="", scale=scale, tables=(f"gu2020/{table}",))
        graph = checked_graph(study, specs if scale == "full" else load(SPECS, scale))
        assert len(graph.audit.files()) == count
        assert set(graph.audit.files()) <= set(graph.publication.everything())
        assert (graph.paths.audit("json") in graph.report.inputs()) is bool(count)


def test_the_digest_follows_the_recipe(specs: Specs) -> None:
    study = Study(study="x", title="", scale="full", tables=())
    other = specs.model_copy(update={"datasets": {**specs.datasets}})
    del other.datasets["bioasq-yesno"]
    digests = {checked_graph(study, one).audit.digest() for one in (specs, specs, other)}
    assert len(digests) == 2


def test_no_study_is_called_audit() -> None:
    with pytest.raises(ValueError, match="give the study another name"):
        Study(study="audit", title="", scale="full", tables=())


def test_counts_are_positive() -> None:
    with pytest.raises(ValueError, match="a share needs counts of at least 1"):
        ScoreCounts(kind="share", sizes=(0,))
