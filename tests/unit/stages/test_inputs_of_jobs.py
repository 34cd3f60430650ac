"""Inputs and arguments of jobs, which name the files of other jobs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import Specs
from pubmill.stages import Graph
from pubmill.storage.result_paths import RELATIVE, RunKey


@pytest.fixture(scope="module")
def run() -> RunKey:
    return RunKey("blurb", "pubmedbert-base", "bc2gm", "standard")


def test_a_conversion_has_its_raw_files_by_role(full_specs: Specs, graph_of: Callable[..., Graph]) -> None:
    made = graph_of(full_specs)
    inputs = made.datasets.inputs("bc2gm")
    assert made.datasets.arguments("bc2gm") == [
        text for role, path in inputs.items() for text in ("--input", f"{role}={path}")
    ]
    assert made.pages.inputs("bc2gm") == [
        made.paths.card("bc2gm"), *(made.paths.source_record(path) for path in inputs.values()),
    ]  # fmt: skip


def test_forms_of_a_dataset_are_those_with_its_name_before_the_at_sign(
    full_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
    made = graph_of(full_specs).datasets
    assert made.variants("chemprot@blue") == [n for n in full_specs.datasets if n.split("@")[0] == "chemprot"]
    assert "chemprot@blue" not in graph_of(full_specs).pages.recipe("chemprot@blue").variants


def test_recipes_on_one_corpus_and_vocabulary_share_their_tokens(
    full_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
    made = graph_of(full_specs).pretrainings
    one, other = "pubmedbert-base", "pubmedbert-base@adversarial"
    assert made.tokens_folder(one) == made.tokens_folder(other) != made.tokens_folder("bio-lm-base")
    spec = full_specs.pretraining[one]
    assert made.sentence_splitter(spec.corpus, spec.vocab) == spec.sentence_splitter
    with pytest.raises(PubmillError, match="no recipe in specs/pretraining has the corpus x and the vocab y"):
        made.packing_spec("x", "y")


def test_a_trial_needs_the_model_and_the_examples(
    full_specs: Specs, graph_of: Callable[..., Graph], run: RunKey
) -> None:
    runs = graph_of(full_specs).runs
    trial = "batch_size=16+epochs=2+learning_rate=1e-05"
    model, *data = runs.trial_inputs(run, trial)
    assert model.endswith("models/pubmedbert-base/model.safetensors")
    assert data == runs.graph.paths.dataset_files("bc2gm")
    assert set(runs.inputs(run)) > {model, *data, *runs.selected(run)}
    with pytest.raises(PubmillError, match="has no block of trials 'x'"):
        runs.trial_inputs(run, "x")
    with pytest.raises(PubmillError, match="no specs/models/nobody.yaml"):
        runs.trial_inputs(RunKey("blurb", "nobody", "bc2gm", "standard"), trial)


def test_evaluation_texts_are_the_examples_of_the_datasets_that_a_corpus_names(
    full_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
    made = graph_of(full_specs)
    splits = made.contamination.splits("pubmed-abstracts", "contamination")
    files = made.contamination.examples("pubmed-abstracts", "contamination")
    assert files == [made.paths.examples(name, split) for name, found in splits.items() for split in found]


def test_the_audit_and_reports_read_every_table_of_the_study(
    demo_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
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


def test_models_that_a_study_leaves_out_are_named_with_the_tables_of_their_spec(
    full_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
    tables = {"tables": ("gu2020/table06", "other/table01")}
    named = full_specs.models["biobert-base"].model_copy(update=tables)
    specs = full_specs.model_copy(update={"models": {**full_specs.models, "biobert-base": named}})
    study = {"tables": ("gu2020/table06",), "models": ("pubmedbert-base",)}
    assert graph_of(specs, **study).requests.models_to_add() == {"biobert-base": ["gu2020/table06"]}
    assert graph_of(specs, tables=("gu2020/table06",)).requests.models_to_add() == {}
    [line] = [one for one in graph_of(specs, **study).left_out() if "biobert-base" in one]
    assert "its spec names gu2020/table06, which the study runs" in line
    requests = graph_of(specs, **study, datasets=("bc2gm",)).requests
    assert [requests.has_model(name) for name in ("pubmedbert-base", "biobert-base", "nobody", None)] == [
        True, False, False, False,
    ]  # fmt: skip
    assert [requests.has_dataset(name) for name in ("bc2gm", "jnlpba")] == [True, False]


def test_datasets_behind_a_row_are_its_folds_their_choice_and_what_runs_begin_with(
    full_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
    made = graph_of(full_specs).table_datasets
    folds = made.required(full_specs.tables["lewis2020/table02"], "gad")
    assert folds == [*full_specs.protocols["lewis2020"].folds["gad"].reported, "gad@fold-1"]
    questions = made.required(full_specs.tables["shin2020/table02"], "bioasq-factoid@7b-biobert")
    assert questions == ["bioasq-factoid@7b-biobert", "squad-v1"]
    assert made.required(full_specs.tables["gu2020/table06"], "bc2gm") == ["bc2gm"]


def test_statements_on_methods_are_those_of_the_papers_of_the_study(
    full_specs: Specs, graph_of: Callable[..., Graph], root: Path
) -> None:
    made = graph_of(full_specs, tables=("gu2020/table06",)).report
    found = [
        Path(file).resolve().relative_to(root / "specs") for file in made.statement_files(root / "specs")
    ]
    kinds = {
        kind: getattr(full_specs, kind)
        for kind in ("corpora", "vocabs", "pretraining", "models", "protocols")
    }
    kinds["tables"] = {**full_specs.tables, **full_specs.fact_tables}
    expected = {
        Path(kind, f"{name}.yaml")
        for kind, specs in kinds.items()
        for name, spec in specs.items()
        if spec.paper == "gu2020" and spec.method
    }
    expected |= {Path("choices/finetuning.yaml"), Path("choices/pretraining.yaml")}  # of all papers
    assert set(found) == expected and len(found) == len(expected)
    assert Path("protocols/blurb.yaml") in expected and Path("protocols/tinn2021.yaml") not in expected
    recipe = made.recipe([str(root / "specs/protocols/blurb.yaml")])
    assert len(recipe.statements_sha256) == 64 and made.recipe().statements_sha256 == ""
