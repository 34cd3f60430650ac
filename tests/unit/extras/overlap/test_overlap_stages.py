"""Inputs of scores split by what items share with training."""

from collections.abc import Callable

from pubmill.extras.overlap.overlap_stages import OverlapStage
from pubmill.specs import Specs
from pubmill.stages import Graph
from pubmill.storage.result_paths import RunKey

Made = Callable[..., Graph]
TABLE = "gu2020/table06"


def test_a_study_splits_scores_only_if_it_says_so(graph_of: Made, demo_specs: Specs) -> None:
    assert graph_of(demo_specs, tables=(TABLE,)).requests.split_tables() == []
    graph = graph_of(demo_specs, tables=(TABLE, "gu2020/table03"), overlap=True)
    files = set(graph.paths.overlap_files(TABLE))
    assert files <= set(graph.publication.everything()) and files <= set(graph.publication.files())
    assert graph.paths.overlap(TABLE, "json") in graph.report.inputs()
    assert graph.report.recipe().overlap == (TABLE,)


def test_cells_with_entities_and_relations_are_split(graph_of: Made, demo_specs: Specs) -> None:
    graph = graph_of(demo_specs, tables=(TABLE,), models=("pubmedbert-base", "no-pretraining"))
    recipe = graph.stage(OverlapStage).recipe(TABLE)
    assert {"bc5-chem", "chemprot@blurb"} <= set(recipe.cells["pubmedbert-base"])
    assert not {"biosses", "hoc@blurb", "pubmedqa"} & set(recipe.cells["pubmedbert-base"])
    assert recipe.corpora == {"pubmedbert-base": ("pubmed-abstracts",)}
    assert recipe.dated == ("pubmed-abstracts",)


def test_files_that_are_read(graph_of: Made, demo_specs: Specs) -> None:
    graph = graph_of(demo_specs, tables=(TABLE,), models=("pubmedbert-base",), datasets=("bc5-chem",))
    runs, at = graph.stage(OverlapStage).run_files(TABLE), graph.paths
    assert {at.examples("bc5-chem", "train"), at.examples("bc5-chem", "test")} <= set(runs)
    record = at.record(RunKey("blurb", "pubmedbert-base", "bc5-chem", "standard"), 1)
    assert {record, record.replace(".json", ".predictions.jsonl.gz")} <= set(runs)
    corpus = "pubmed-abstracts"
    assert graph.stage(OverlapStage).files_beside(TABLE) == [
        at.corpus(corpus, "contamination.json"),
        at.corpus(corpus, "document-years.json"),
    ]


def test_years_are_those_of_documents_with_pmids(graph_of: Made, full_specs: Specs) -> None:
    graph = graph_of(full_specs, tables=(TABLE,), datasets=("bc5-chem", "bc2gm", "chemprot@blurb"))
    documents = graph.stage(OverlapStage).years_recipe("pubmed-abstracts").documents
    assert documents["bc5-chem"] == ("concepts/bc5-chem.jsonl.gz",) and "bc2gm" not in documents
    assert documents["chemprot@blurb"][-1] == "datasets/chemprot@blurb/test.jsonl.gz"
    assert graph.stage(OverlapStage).dated_files()[0].startswith(graph.results)
