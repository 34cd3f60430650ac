"""Inputs and arguments of jobs, which name the files of other jobs."""

from types import SimpleNamespace

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import Specs
from pubmill.stages import Graph
from pubmill.stages.corpus_jobs import DatasetNotices, FindContamination, Fingerprint, SelectDocuments
from pubmill.stages.dataset_jobs import Convert, SentenceDocuments
from pubmill.storage.result_paths import RELATIVE, RunKey
from tests.unit.toy_studies import GraphOf


def test_a_page_names_the_other_variants(full_graph: Graph) -> None:
    variants = full_graph.datasets.page("chemprot@blue").variants
    assert "chemprot@blurb" in variants and "chemprot@blue" not in variants


def test_a_trial_needs_the_model_and_the_examples(full_graph: Graph) -> None:
    run, runs = RunKey("blurb", "pubmedbert-base", "bc2gm", "standard"), full_graph.runs
    model, *data = runs.trial_inputs(run, "batch_size=16+epochs=2+learning_rate=1e-05")
    assert model.endswith("models/pubmedbert-base/model.safetensors")
    assert data == runs.graph.paths.dataset_files("bc2gm")
    assert set(runs.inputs(run)) > {model, *data, *runs.selected(run)}


def test_the_audit_and_reports_read_every_table_of_the_study(demo_specs: Specs, graph_of: GraphOf) -> None:
    study = {"tables": ("gu2020/table06", "gu2020/table05"), "models": ("pubmedbert-base",)}
    made = graph_of(demo_specs, **study, datasets=("bc2gm",))
    below = [made.paths.below(path) for path in made.report.inputs()]
    steps = made.pretrainings.steps("pubmedbert-base")
    assert [path for path in below if path.endswith("log.jsonl")] == [
        f"pretraining/pubmedbert-base/step-{steps[-1]}/log.jsonl"
    ], "that of the last segment has all before"
    assert [path for path in below if path.endswith("state.json")] == [
        f"pretraining/pubmedbert-base/step-{step}/state.json" for step in steps
    ]
    for path in (
        "tables/x/gu2020-table06.json", "tables/x/gu2020-table05.json",
        "tables/x/gu2020-table06.comparisons.json", RELATIVE.card("bc2gm"),
        "corpora/pubmed-abstracts/stats.json", "vocabs/pubmed-uncased/diagnosis.json",
    ):  # fmt: skip
        assert path in below, path
    assert "tables/x/gu2020-table05.comparisons.json" not in below
    assert made.tables.record_files("gu2020/table06") == [
        made.paths.records(RunKey("blurb", "pubmedbert-base", "bc2gm", "standard"))
    ]
    assert made.report.recipe().vocabs == ("pubmed-uncased",), "of the vocabularies only its own"
    facts = graph_of(demo_specs, tables=("gu2020/table05",), models=("pubmedbert-base",))
    assert not any("comparisons" in path for path in facts.report.inputs())
    assert (facts.report.recipe().corpora, facts.report.recipe().vocabs) == ((), ())


def test_datasets_behind_a_row_are_its_folds_their_choice_and_what_runs_begin_with(full_graph: Graph) -> None:
    made, specs = full_graph.table_datasets, full_graph.specs
    folds = made.required(specs.tables["lewis2020/table02"], "gad")
    assert folds == [*specs.protocols["lewis2020"].folds["gad"].reported, "gad@fold-1"]
    questions = made.required(specs.tables["shin2020/table02"], "bioasq-factoid@7b-biobert")
    assert questions == ["bioasq-factoid@7b-biobert", "squad-v1"]
    assert made.required(specs.tables["gu2020/table06"], "bc2gm") == ["bc2gm"]


def test_a_rule_has_the_version_of_its_stage_and_the_recipe_if_there_is_one(full_graph: Graph) -> None:
    graph, of = full_graph, SimpleNamespace(dataset="bc2gm")
    with_recipe, without = graph.stage(Convert), graph.stage(FindContamination)
    assert with_recipe.params.keys() - without.params.keys() == {"recipe"}
    assert with_recipe.params["version"](of) == with_recipe.version_of(of)
    assert without.params["version"] == without.version
    both = [SelectDocuments.version, Fingerprint.version]
    assert graph.stage(Fingerprint).params["version"](of) == both, "a change of selection makes them again"
    assert with_recipe.params["recipe"](of) == graph.argument(with_recipe.recipe_of(of))


def test_made_up_examples_have_no_documents(demo_graph: Graph, full_graph: Graph) -> None:
    wildcards, datasets = SimpleNamespace(dataset="bc5-chem"), full_graph.specs.datasets
    with pytest.raises(PubmillError, match="bc5-chem: its spec names no `copies` with its documents"):
        demo_graph.stage(SentenceDocuments).inputs_of(wildcards)
    inputs = full_graph.stage(SentenceDocuments).inputs_of(wildcards)
    assert len(inputs["copies"]) == len(inputs["examples"]) == 3
    known = [name for name in datasets if full_graph.datasets.has_copies(name)]
    assert known == ["bc5-chem", "bc5-disease", "ncbi-disease", "species-800"]
    for file in datasets["bc5-chem"].copies:
        assert full_graph.sources.checks(file.url) == ["--sha256", file.sha256]


def test_pmids_of_all_splits_or_documents_of_sentences_are_looked_up_once_a_corpus(
    graph_of: GraphOf, full_specs: Specs, demo_specs: Specs
) -> None:
    table = {"tables": ("gu2020/table06",)}
    graph = graph_of(full_specs, **table, datasets=("bc5-chem", "bc2gm", "chemprot@blurb"))
    recipe = graph.stage(DatasetNotices).recipe_of(SimpleNamespace(corpus="pubmed-abstracts"))
    assert recipe.documents.keys() == {"bc5-chem", "chemprot@blurb"}
    assert recipe.documents["bc5-chem"] == ("sentence-documents/bc5-chem.jsonl.gz",)
    splits = [path.rsplit("/")[-1] for path in recipe.documents["chemprot@blurb"]]
    assert splits == ["train.jsonl.gz", "dev.jsonl.gz", "test.jsonl.gz"]
    both = table | {"models": ("pubmedbert-base", "no-pretraining")}
    graph = graph_of(demo_specs, **both, datasets=("chemprot@blurb",))
    report = graph.paths.corpus("pubmed-abstracts", "dataset-notices.json")
    assert graph.stage(DatasetNotices).targets() == [report]
    assert report in graph.scope.everything()
    assert graph_of(demo_specs, **both, datasets=("bc2gm",)).stage(DatasetNotices).targets() == []
