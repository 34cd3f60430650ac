"""Facts of models, tasks and protocols: their values, and why some have none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubmill.recipes.fact_tables import FactSource
from pubmill.specs import FactTableSpec, LearntVocabSpec, Specs
from pubmill.stages import Graph
from pubmill.stages.availability import NOT_PRETRAINED, NOT_WANTED
from pubmill.stages.fact_table_jobs import NO_CORPUS, NO_VOCAB, NOTHING_VARIED, RELEASED
from tests.unit.toy_studies import GraphOf

Facts = Callable[..., FactSource]
TABLE: dict[str, Any] = {
    "name": "table01", "kind": "facts", "subjects": "models", "paper": "p", "title": "t", "caption": "c",
}  # fmt: skip


def fact(graph: Graph, subject: str, value: str, of: str = "of_model", **changes: Any) -> FactSource:
    """The source of one fact in a table of one row and one column."""
    column = {"key": "a", "label": "A", "value": value} | changes.pop("column", {})
    row: dict[str, Any] = {"subject": subject, "label": "M"} | changes.pop("row", {})
    table = FactTableSpec.model_validate(TABLE | {"columns": [column], "rows": [row]} | changes)
    find: Facts = getattr(graph.fact_tables, of)
    return find(table, table.rows[0], table.columns[0])


RUN = {"protocol": "alrowili2021", "setting": "timing", "column": {"dataset": "chemprot@blurb"}}
TIMING = RUN | {
    "rows": [{"subject": name, "label": name} for name in ("biobert-base", "bio-lm-base")],
    "baseline": {"subject": "bio-lm-base"},
}
WORDS: dict[str, Any] = {"words": {"scratch": "From scratch", "pubmed-abstracts": "PubMed"}}
GONE = {"row": {"missing": "not released"}}
TASKS: dict[str, Any] = {"of": "of_task", "subjects": "tasks", "protocol": "blurb"}
PROTOCOLS: dict[str, Any] = {"of": "of_protocol", "subjects": "protocols"}
UNNAMED = "needs its weights in a folder of your own (then set local_files: megatron-345m-cased)"
TIME = "runs/alrowili2021/{}/chemprot@blurb/timing/final/seed-1.json"


@pytest.mark.parametrize(("subject", "value", "changes", "field", "expected"), [
    ("biom-bert-large@100k", "steps", {}, "value", 100_000),
    ("biom-bert-large", "steps", {}, "value", 690_000), ("biom-bert-large", "hidden_size", {}, "value", 1024),
    ("biom-bert-large@100k", "compute_ratio", {"baseline": {"steps": 50_000, "batch_size": 4 * 4096}},
     "value", 0.5),
    ("pubmedbert-base", "pretraining", {}, "value", "scratch"),
    ("bio-lm-base@pm", "pretraining", {}, "value", "continued"),
    ("pubmedbert-base", "pretraining", WORDS, "value", "From scratch"),
    ("pubmedbert-base", "corpus", WORDS, "value", "PubMed"),
    ("pubmedbert-base", "corpus", WORDS | {"row": {"words": {"pubmed-abstracts": "abstracts"}}}, "value",
     "abstracts"),
    ("pubmedbert-base", "vocab", WORDS, "value", "PubMed"),
    ("nobody", "steps", GONE, "lacking", "not released"),
    ("nobody", "recipe.epochs", RUN | GONE, "lacking", "not released"),
    ("nobody", "choices", PROTOCOLS | GONE, "lacking", "not released"),
    ("biomegatron-345m@bio-30k", "term=a", {}, "lacking", NOT_PRETRAINED),
    ("biobert-large", "term=a", {}, "lacking", NO_VOCAB),
    ("megatron-345m-cased", "term=a", {}, "lacking", UNNAMED),
    ("megatron-345m-cased", "parameters", {}, "lacking", UNNAMED),
    ("megatron-345m-cased", "fit.test", {"column": {"dataset": "jnlpba"}}, "lacking", UNNAMED),
    ("pubmedbert-base", "corpus.words", {}, "lacking", NO_CORPUS),
    ("biomegatron-345m@bio-30k", "masked_loss", {}, "lacking", NOT_PRETRAINED),
    ("biobert-base", "masked_loss", {}, "lacking", RELEASED),
    ("biobert-base", "term=a", {}, "files", ("vocabs/biobert-base/diagnosis.json",)),
    ("biobert-base", "fit.train", {"column": {"dataset": "bc2gm"}}, "lacking", NOT_WANTED),
    ("biobert-base", "seconds", TIMING, "files", (TIME.format("biobert-base"),)),
    ("biobert-base", "seconds_ratio", TIMING, "files",
     (TIME.format("biobert-base"), TIME.format("bio-lm-base"))),
    ("ner", "kind", TASKS, "value", "tokens"),
    ("ner", "kind", TASKS | {"words": {"tokens": "words"}}, "value", "words"),
    ("nothing", "kind", TASKS, "lacking", NOTHING_VARIED),
])  # fmt: skip
def test_facts_have_values_files_or_reasons(
    full_graph: Graph, subject: str, value: str, changes: dict[str, Any], field: str, expected: object
) -> None:
    """Steps are those of the model's checkpoint; a ratio is that of tokens seen, in batches of its size."""
    assert getattr(fact(full_graph, subject, value, **changes), field) == expected


@pytest.mark.parametrize(("study", "subject", "value", "changes"), [
    ({"models": ("biobert-base",)}, "pubmedbert-base", "term=a", {}),
    ({"datasets": ("jnlpba",)}, "biobert-base", "fit.train", {"column": {"dataset": "bc2gm"}}),
    ({"models": ("biobert-base",)}, "biobert-base", "seconds_ratio", TIMING),
    ({"datasets": ("bc2gm",)}, "biobert-base", "seconds_ratio", TIMING),
])  # fmt: skip
def test_models_and_datasets_that_a_study_leaves_out_have_no_facts(
    full_specs: Specs, graph_of: GraphOf, study: dict[str, Any], subject: str, value: str, changes: Any
) -> None:
    """Released weights bring their vocabulary; those made here are only made for tables of results."""
    assert fact(graph_of(full_specs, **study), subject, value, **changes).lacking == NOT_WANTED


def test_the_size_of_a_vocabulary_stands_before_its_corpus(full_graph: Graph) -> None:
    vocab, general = full_graph.specs.vocabs["pubmed-uncased"], "pubmedbert-base@general-vocabulary"
    assert isinstance(vocab, LearntVocabSpec)
    assert fact(full_graph, "pubmedbert-base", "vocab.sized", **WORDS).value == f"{vocab.size} PubMed"
    sized = {f"{vocab.size} pubmed-abstracts": "its own"}
    assert fact(full_graph, "pubmedbert-base", "vocab.sized", words=sized).value == "its own"
    released = full_graph.specs.pretraining[general].vocab
    assert fact(full_graph, general, "vocab.sized").value == released


def test_facts_that_differ_because_of_the_scale_have_a_note(
    full_graph: Graph, demo_graph: Graph, demo_specs: Specs, graph_of: GraphOf
) -> None:
    """As do vocabularies made at a scale, and released ones do not."""
    assert fact(full_graph, "pubmedbert-base", "steps").scaled is None
    note = f"as made at this scale, and not as in the paper: {demo_graph.specs.scale.title}"
    assert fact(demo_graph, "pubmedbert-base", "steps").scaled == note
    assert fact(demo_graph, "no-pretraining", "term=a").scaled == note
    assert fact(demo_graph, "biobert-base", "term=a").scaled is None
    made = graph_of(demo_specs, tables=("gu2020/table06",), models=("pubmedbert-base",))
    last = demo_specs.pretraining["pubmedbert-base"].checkpoints[-1]
    for value, file in (
        ("corpus.words", "corpora/pubmed-abstracts/stats.json"),
        ("masked_loss", f"pretraining/pubmedbert-base/step-{last}/state.json"),
    ):
        found = fact(made, "pubmedbert-base", value)
        assert (found.files, found.scaled) == ((file,), note)


def test_settings_that_were_added_to_a_paper_do_not_count(full_graph: Graph) -> None:
    """Nor do those that do not fit the task's datasets."""
    blurb = full_graph.specs.protocols["blurb"]
    added = {name: one.model_copy(update={"added": True}) for name, one in blurb.settings.items()}
    protocols = {**full_graph.specs.protocols, "blurb": blurb.model_copy(update={"settings": added})}
    other = Graph(full_graph.study, full_graph.specs.model_copy(update={"protocols": protocols}))
    assert fact(full_graph, "blurb", "choices", **PROTOCOLS).value
    assert fact(other, "blurb", "choices", **PROTOCOLS).lacking == NOTHING_VARIED
    assert "tagging" in str(fact(full_graph, "ner", "choices", **TASKS).value)
    assert "tagging" not in str(fact(full_graph, "relation", "choices", **TASKS).value)


def test_weights_of_a_folder_that_the_user_names(
    full_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    named = graph_of(full_specs, local_files={"megatron-345m-cased": str(tmp_path)})
    assert fact(named, "megatron-345m-cased", "term=a").lacking == NO_VOCAB
    found = fact(named, "megatron-345m-cased", "parameters")
    assert (found.lacking, len(found.files or ()), found.scaled) == ("", 1, None)
