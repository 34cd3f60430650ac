"""Which documents of datasets are looked up for retractions, and where."""

from types import SimpleNamespace

from pubmill.specs import Specs
from pubmill.stages.corpus_jobs import DatasetNotices
from tests.unit.toy_studies import GraphOf

TABLE = "gu2020/table06"


def test_all_splits_of_datasets_with_pmids(graph_of: GraphOf, full_specs: Specs) -> None:
    graph = graph_of(full_specs, tables=(TABLE,), datasets=("bc5-chem", "bc2gm", "chemprot@blurb"))
    recipe = graph.stage(DatasetNotices).recipe_of(SimpleNamespace(corpus="pubmed-abstracts"))
    assert (
        recipe.documents["bc5-chem"] == ("sentence-documents/bc5-chem.jsonl.gz",)
        and "bc2gm" not in recipe.documents
    )
    assert [path.rsplit("/")[-1] for path in recipe.documents["chemprot@blurb"]] == [
        "train.jsonl.gz", "dev.jsonl.gz", "test.jsonl.gz",
    ]  # fmt: skip


def test_a_study_makes_one_report_for_each_corpus_of_its_models(graph_of: GraphOf, demo_specs: Specs) -> None:
    choice = {"tables": (TABLE,), "models": ("pubmedbert-base", "no-pretraining")}
    graph = graph_of(demo_specs, **choice, datasets=("chemprot@blurb",))
    report = graph.paths.corpus("pubmed-abstracts", "dataset-notices.json")
    assert graph.stage(DatasetNotices).targets() == [report]
    assert report in graph.scope.everything()
    without = graph_of(demo_specs, **choice, datasets=("bc2gm",))
    assert without.stage(DatasetNotices).targets() == []
