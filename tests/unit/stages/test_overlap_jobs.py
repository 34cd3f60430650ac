"""Inputs of scores split by what items share with training."""

from collections.abc import Callable

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import Specs
from pubmill.stages import Graph

Made = Callable[..., Graph]
TABLE = "gu2020/table06"


def test_a_study_splits_scores_only_if_it_says_so(graph_of: Made, demo_specs: Specs) -> None:
    assert graph_of(demo_specs, tables=(TABLE,)).overlap.files() == []
    graph = graph_of(demo_specs, tables=(TABLE, "gu2020/table03"), overlap=True)
    assert graph.overlap.files() == graph.paths.overlap_files(TABLE)
    assert set(graph.overlap.files()) <= set(graph.publication.everything())
    assert set(graph.overlap.files()) <= set(graph.publication.files())
    assert graph.paths.overlap(TABLE, "json") in graph.report.inputs()
    assert graph.report.recipe().overlap == (TABLE,)


def test_cells_with_entities_and_relations_are_split(graph_of: Made, demo_specs: Specs) -> None:
    graph = graph_of(demo_specs, tables=(TABLE,), models=("pubmedbert-base", "no-pretraining"))
    recipe = graph.overlap.recipe(TABLE)
    assert {"bc5-chem", "chemprot@blurb"} <= set(recipe.cells["pubmedbert-base"])
    assert not {"biosses", "hoc@blurb", "pubmedqa"} & set(recipe.cells["pubmedbert-base"])
    assert recipe.corpora == {"pubmedbert-base": ("pubmed-abstracts",)}
    assert recipe.dated == ("pubmed-abstracts",)


def test_files_that_are_read(graph_of: Made, demo_specs: Specs) -> None:
    graph = graph_of(demo_specs, tables=(TABLE,), models=("pubmedbert-base",), datasets=("bc5-chem",))
    runs, at = graph.overlap.run_files(TABLE), graph.paths
    assert {at.examples("bc5-chem", "train"), at.examples("bc5-chem", "test")} <= set(runs)
    record = at.record("blurb", "pubmedbert-base", "bc5-chem", "standard", 1)
    assert {record, record.replace(".json", ".predictions.jsonl.gz")} <= set(runs)
    corpus = "pubmed-abstracts"
    assert graph.overlap.files_beside(TABLE) == [
        at.corpus(corpus, "contamination.json"),
        at.corpus(corpus, "document-years.json"),
    ]


def test_made_up_examples_have_no_identifiers(graph_of: Made, demo_specs: Specs, full_specs: Specs) -> None:
    assert demo_specs.datasets["bc5-chem"].concepts
    with pytest.raises(PubmillError, match="bc5-chem has no identifiers: its spec names no files"):
        graph_of(demo_specs).datasets.concept_inputs("bc5-chem")
    graph = graph_of(full_specs)
    inputs = graph.datasets.concept_inputs("bc5-chem")
    assert len(inputs["copies"]) == len(inputs["examples"]) == 3
    known = [name for name in full_specs.datasets if graph.datasets.has_concepts(name)]
    assert known == ["bc5-chem", "bc5-disease", "linnaeus", "ncbi-disease", "species-800"]
    for file in full_specs.datasets["bc5-chem"].concepts.files:  # type: ignore[union-attr]
        assert graph.sources.checks(file.url) == ["--sha256", file.sha256]


def test_years_are_those_of_documents_with_pmids(graph_of: Made, full_specs: Specs) -> None:
    graph = graph_of(full_specs, tables=(TABLE,), datasets=("bc5-chem", "bc2gm", "chemprot@blurb"))
    documents = graph.overlap.years_recipe("pubmed-abstracts").documents
    assert documents["bc5-chem"] == ("concepts/bc5-chem.jsonl.gz",) and "bc2gm" not in documents
    assert documents["chemprot@blurb"][-1] == "datasets/chemprot@blurb/test.jsonl.gz"
    assert graph.overlap.dated_files()[0].startswith(graph.results)


def test_floors_belong_to_rows_with_train_and_test(graph_of: Made, demo_specs: Specs) -> None:
    assert graph_of(demo_specs, tables=(TABLE,)).tables.recipe(TABLE).floors == {}
    graph = graph_of(demo_specs, tables=(TABLE,), floors=True, datasets=("bc5-chem", "hoc@blurb"))
    expected = {name: (f"floors/{name}.json",) for name in ("bc5-chem", "hoc@blurb")}
    assert graph.tables.recipe(TABLE).floors == expected
    assert graph.tables.floor_files(TABLE) == [graph.paths.dataset_floors(name) for name in sorted(expected)]
    recipe = graph.datasets.floors_recipe("hoc@blurb")
    assert (recipe.name, recipe.kind, recipe.task) == ("hoc@blurb", "multilabel", "classification")
