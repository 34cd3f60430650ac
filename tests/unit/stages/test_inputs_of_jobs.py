"""Inputs and arguments of jobs, which name the files of other jobs."""

from pubmill.specs import Specs
from pubmill.stages import Graph
from pubmill.storage.result_paths import RELATIVE, RunKey
from tests.unit.toy_studies import GraphOf


def test_a_conversion_has_its_raw_files_by_role(full_graph: Graph) -> None:
    inputs = full_graph.datasets.inputs("bc2gm")
    assert full_graph.datasets.arguments("bc2gm") == [
        text for role, path in inputs.items() for text in ("--input", f"{role}={path}")
    ]
    assert full_graph.pages.inputs("bc2gm") == [
        full_graph.paths.card("bc2gm"), *(full_graph.paths.source_record(path) for path in inputs.values()),
    ]  # fmt: skip
    assert "chemprot@blurb" in full_graph.datasets.variants("chemprot@blue")
    assert "chemprot@blue" not in full_graph.pages.recipe("chemprot@blue").variants


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
        "tables/x/gu2020-table06.comparisons.json",
        "pages/contradictions.json", RELATIVE.page("bc2gm", "json"),
        "corpora/pubmed-abstracts/stats.json", "vocabs/pubmed-uncased/diagnosis.json",
        "vocabs/pubmed-uncased/on/bc2gm.json",
    ):  # fmt: skip
        assert path in below, path
    assert "tables/x/gu2020-table05.comparisons.json" not in below
    assert made.tables.record_files("gu2020/table06") == [
        made.paths.records(RunKey("blurb", "pubmedbert-base", "bc2gm", "standard"))
    ]
    facts = graph_of(demo_specs, tables=("gu2020/table05",), models=("pubmedbert-base",))
    assert not any("contradictions" in path or "comparisons" in path for path in facts.report.inputs())


def test_models_left_out_are_named_with_the_tables_of_their_spec(
    full_specs: Specs, graph_of: GraphOf
) -> None:
    tables = {"tables": ("gu2020/table06", "other/table01")}
    named = full_specs.models["biobert-base"].model_copy(update=tables)
    specs = full_specs.model_copy(update={"models": {**full_specs.models, "biobert-base": named}})
    study = {"tables": ("gu2020/table06",), "models": ("pubmedbert-base",)}
    every = graph_of(specs, tables=("gu2020/table06",))
    assert not any("its spec names" in line for line in every.left_out())
    [line] = [one for one in graph_of(specs, **study).left_out() if "biobert-base" in one]
    assert "its spec names gu2020/table06, which the study runs" in line
    requests = graph_of(specs, **study, datasets=("bc2gm",)).requests
    assert [requests.has_model(name) for name in ("pubmedbert-base", "biobert-base", "nobody", None)] == [
        True, False, False, False,
    ]  # fmt: skip
    assert [requests.has_dataset(name) for name in ("bc2gm", "jnlpba")] == [True, False]


def test_datasets_behind_a_row_are_its_folds_their_choice_and_what_runs_begin_with(full_graph: Graph) -> None:
    made, specs = full_graph.table_datasets, full_graph.specs
    folds = made.required(specs.tables["lewis2020/table02"], "gad")
    assert folds == [*specs.protocols["lewis2020"].folds["gad"].reported, "gad@fold-1"]
    questions = made.required(specs.tables["shin2020/table02"], "bioasq-factoid@7b-biobert")
    assert questions == ["bioasq-factoid@7b-biobert", "squad-v1"]
    assert made.required(specs.tables["gu2020/table06"], "bc2gm") == ["bc2gm"]
