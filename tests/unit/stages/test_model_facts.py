"""Facts of models, tasks and protocols: their values, and why some have none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def test_what_has_no_spec_has_the_reason_of_its_row(full_graph: Graph) -> None:
    timing = {"protocol": "alrowili2021", "setting": "timing", "column": {"dataset": "chemprot@blurb"}}
    for value, of, table in (
        ("steps", "of_model", {}),
        ("recipe.epochs", "of_model", timing),
        ("choices", "of_protocol", {"subjects": "protocols"}),
    ):
        changes: dict[str, Any] = {"row": {"missing": "not released"}, **table}
        assert fact(full_graph, "nobody", value, of, **changes).lacking == "not released"


def test_values_of_a_recipe(full_graph: Graph) -> None:
    """Steps are those of the model's checkpoint; a ratio is that of tokens seen, in batches of its size."""
    recipe = full_graph.specs.pretraining["biom-bert-large"].recipe
    assert fact(full_graph, "biom-bert-large@100k", "steps").value == 100_000
    assert fact(full_graph, "biom-bert-large", "steps").value == 690_000
    assert fact(full_graph, "biom-bert-large", "batch_size").value == recipe.batch_size
    assert fact(full_graph, "biom-bert-large", "hidden_size").value == 1024
    baseline: dict[str, Any] = {"baseline": {"steps": 50_000, "batch_size": recipe.batch_size * 4}}
    assert fact(full_graph, "biom-bert-large@100k", "compute_ratio", **baseline).value == 0.5


def test_terms_are_in_the_words_of_the_table_or_of_the_row(full_graph: Graph) -> None:
    assert fact(full_graph, "pubmedbert-base", "pretraining").value == "scratch"
    assert fact(full_graph, "bio-lm-base@pm", "pretraining").value == "continued"
    words: dict[str, Any] = {"words": {"scratch": "From scratch", "pubmed-abstracts": "PubMed"}}
    assert fact(full_graph, "pubmedbert-base", "pretraining", **words).value == "From scratch"
    assert fact(full_graph, "pubmedbert-base", "corpus", **words).value == "PubMed"
    own: dict[str, Any] = {"row": {"words": {"pubmed-abstracts": "abstracts"}}}
    assert fact(full_graph, "pubmedbert-base", "corpus", **words, **own).value == "abstracts"
    assert fact(full_graph, "pubmedbert-base", "vocab", **words).value == "PubMed"
    vocab = full_graph.specs.vocabs["pubmed-uncased"]
    assert isinstance(vocab, LearntVocabSpec)
    assert fact(full_graph, "pubmedbert-base", "vocab.sized", **words).value == f"{vocab.size} PubMed"
    sized: dict[str, Any] = {"words": {f"{vocab.size} pubmed-abstracts": "its own"}}
    assert fact(full_graph, "pubmedbert-base", "vocab.sized", **sized).value == "its own"
    released = full_graph.specs.pretraining["pubmedbert-base@general-vocabulary"].vocab
    assert fact(full_graph, "pubmedbert-base@general-vocabulary", "vocab.sized").value == released


def test_facts_that_differ_because_of_the_scale_have_a_note(full_graph: Graph, demo_graph: Graph) -> None:
    """As do vocabularies made at a scale, and released ones do not."""
    assert fact(full_graph, "pubmedbert-base", "steps").scaled is None
    note = f"as made at this scale, and not as in the paper: {demo_graph.specs.scale.title}"
    assert fact(demo_graph, "pubmedbert-base", "steps").scaled == note
    assert fact(demo_graph, "no-pretraining", "term=a").scaled == note
    assert fact(demo_graph, "biobert-base", "term=a").scaled is None


def test_a_vocabulary_needs_its_model(full_graph: Graph, full_specs: Specs, graph_of: GraphOf) -> None:
    """Released weights bring theirs; those made here are only made for tables of results."""
    only = graph_of(full_specs, models=("biobert-base",))
    assert fact(only, "pubmedbert-base", "term=a").lacking == NOT_WANTED
    assert fact(full_graph, "biomegatron-345m@bio-30k", "term=a").lacking == NOT_PRETRAINED
    assert fact(full_graph, "biobert-large", "term=a").lacking == NO_VOCAB
    assert fact(full_graph, "biobert-base", "term=a").files == ("vocabs/biobert-base/diagnosis.json",)
    fit: dict[str, Any] = {"column": {"dataset": "bc2gm"}}
    assert fact(full_graph, "biobert-base", "fit.train", **fit).files == (
        "vocabs/biobert-base/on/bc2gm.json",
    )
    other = graph_of(full_specs, datasets=("jnlpba",))
    assert fact(other, "biobert-base", "fit.train", **fit).lacking == NOT_WANTED
    assert "folder of your own" in str(fact(full_graph, "megatron-345m-cased", "term=a").lacking)


def test_times_need_both_models_and_dataset(full_graph: Graph, full_specs: Specs, graph_of: GraphOf) -> None:
    timing: dict[str, Any] = {
        "protocol": "alrowili2021", "setting": "timing", "column": {"dataset": "chemprot@blurb"},
        "rows": [{"subject": name, "label": name} for name in ("biobert-base", "bio-lm-base")],
        "baseline": {"subject": "bio-lm-base"},
    }  # fmt: skip
    ratio = fact(full_graph, "biobert-base", "seconds_ratio", **timing)
    place = "runs/alrowili2021/{}/chemprot@blurb/timing/final/seed-1.json"
    assert ratio.files == tuple(map(place.format, ("biobert-base", "bio-lm-base")))
    assert fact(full_graph, "biobert-base", "seconds", **timing).files == (place.format("biobert-base"),)
    for lacking in ({"models": ("biobert-base",)}, {"datasets": ("bc2gm",)}):
        assert (
            fact(graph_of(full_specs, **lacking), "biobert-base", "seconds_ratio", **timing).lacking
            == NOT_WANTED
        )


def test_facts_of_a_corpus_need_the_corpus(full_graph: Graph, demo_specs: Specs, graph_of: GraphOf) -> None:
    assert fact(full_graph, "pubmedbert-base", "corpus.words").lacking == NO_CORPUS
    built = graph_of(demo_specs, tables=("gu2020/table06",), models=("pubmedbert-base",))
    found = fact(built, "pubmedbert-base", "corpus.words")
    assert found.files == ("corpora/pubmed-abstracts/stats.json",) and "as made" in str(found.scaled)


def test_a_masked_loss_needs_a_pretraining_of_this_study(
    full_graph: Graph, demo_specs: Specs, graph_of: GraphOf
) -> None:
    assert fact(full_graph, "biomegatron-345m@bio-30k", "masked_loss").lacking == NOT_PRETRAINED
    assert fact(full_graph, "biobert-base", "masked_loss").lacking == RELEASED
    made = graph_of(demo_specs, tables=("gu2020/table06",), models=("pubmedbert-base",))
    found = fact(made, "pubmedbert-base", "masked_loss")
    last = demo_specs.pretraining["pubmedbert-base"].checkpoints[-1]
    assert found.files == (f"pretraining/pubmedbert-base/step-{last}/state.json",)
    assert "as made" in str(found.scaled)


def test_kinds_of_a_task_are_listed_once(full_graph: Graph) -> None:
    tasks: dict[str, Any] = {"subjects": "tasks", "protocol": "blurb"}
    assert fact(full_graph, "ner", "kind", "of_task", **tasks).value == "tokens"
    assert fact(full_graph, "nothing", "kind", "of_task", **tasks).lacking == NOTHING_VARIED
    assert fact(full_graph, "ner", "kind", "of_task", **tasks, words={"tokens": "words"}).value == "words"


def test_settings_that_were_added_to_a_paper_do_not_count(full_graph: Graph) -> None:
    """Nor do those that do not fit the task's datasets."""
    blurb = full_graph.specs.protocols["blurb"]
    added = {name: one.model_copy(update={"added": True}) for name, one in blurb.settings.items()}
    protocols = {**full_graph.specs.protocols, "blurb": blurb.model_copy(update={"settings": added})}
    other = Graph(full_graph.study, full_graph.specs.model_copy(update={"protocols": protocols}))
    table: dict[str, Any] = {"subjects": "protocols"}
    assert fact(full_graph, "blurb", "choices", "of_protocol", **table).value
    assert fact(other, "blurb", "choices", "of_protocol", **table).lacking == NOTHING_VARIED
    tasks: dict[str, Any] = {"subjects": "tasks", "protocol": "blurb"}
    assert "tagging" in str(fact(full_graph, "ner", "choices", "of_task", **tasks).value)
    assert "tagging" not in str(fact(full_graph, "relation", "choices", "of_task", **tasks).value)


def test_weights_of_a_folder_that_the_user_does_not_name(
    full_graph: Graph, full_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    named = graph_of(full_specs, local_files={"megatron-345m-cased": str(tmp_path)})
    assert fact(named, "megatron-345m-cased", "term=a").lacking == NO_VOCAB
    unnamed = full_graph
    advice = "needs its weights in a folder of your own (then set local_files: megatron-345m-cased)"
    for value in ("term=a", "parameters", "fit.test"):
        column = {"dataset": "jnlpba"} if value == "fit.test" else {}
        assert fact(unnamed, "megatron-345m-cased", value, column=column).lacking == advice
    found = fact(named, "megatron-345m-cased", "parameters")
    assert (found.lacking, len(found.files or ()), found.scaled) == ("", 1, None)
