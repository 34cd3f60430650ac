"""Specs of corpora and pretrainings: ends of ranges, selections by source, contradictions between specs."""

from dataclasses import asdict
from typing import Any

import pytest
from pydantic import ValidationError

from pubmill.recipes.corpora import SelectionRecipe
from pubmill.recipes.models import TrainingStart
from pubmill.recipes.reading import as_values
from pubmill.specs.corpus_specs import (
    CorpusSpec,
    Duplicates,
    LearntVocabSpec,
    PmcPackagesSource,
    PretrainingSpec,
    faults_of_corpora,
)
from tests.unit.specs.toy_mistakes import wrong_references

PUBMED: dict[str, Any] = {
    "name": "pubmed", "kind": "pubmed", "url": "https://host/pubmed", "files": {"baseline": ["26n0001"]},
}  # fmt: skip
TEXTS: dict[str, Any] = {"name": "texts", "kind": "text", "local": "mine"}


def corpus(name: str = "abstracts", *sources: dict[str, Any], **changes: Any) -> CorpusSpec:
    values = {"name": name, "sources": sources or (PUBMED,), "selection": {"min_words": 128}}
    return CorpusSpec.model_validate(values | changes)


def pretraining(**changes: Any) -> PretrainingSpec:
    recipe = {
        "architecture": {
            "family": "bert", "layers": 1, "hidden_size": 4, "attention_heads": 1, "intermediate_size": 8,
        },
        "objective": {"masking": "subword"}, "optimisation": {"learning_rate": 1e-3}, "sequence_length": 8,
        "batch_size": 2, "steps": 10,
    }  # fmt: skip
    values = {
        "name": "base", "corpus": "abstracts", "vocab": "uncased", "sentence_splitter": "https://host/punkt",
        "recipe": recipe, "checkpoints": [5, 10],
    }  # fmt: skip
    return PretrainingSpec.model_validate(values | changes)


def test_a_selection_of_one_source_overrides_only_the_keys_that_it_has() -> None:
    """And is dumped with the defaults of the others."""
    own = {"texts": {"min_words": None, "languages": ["eng"]}}
    made = corpus("x", PUBMED, TEXTS, selections=own, selection={"min_words": 128, "requires": ["title"]})
    assert made.selection_of("pubmed") == made.selection
    assert made.selection == SelectionRecipe(min_words=128, requires=("title",))
    texts = SelectionRecipe(min_words=None, languages=("eng",), requires=("title",))
    assert made.selection_of("texts") == texts
    dumped = made.model_dump(mode="json")["selections"]["texts"]
    assert dumped == as_values(SelectionRecipe(min_words=None, languages=("eng",)))


@pytest.mark.parametrize("values", [{"model": "bert"}, {"recipe": "base", "step": 0}])
def test_a_start_is_a_model_or_a_step_of_a_recipe(values: dict[str, Any]) -> None:
    assert asdict(TrainingStart(**values)).items() >= values.items()


@pytest.mark.parametrize(
    "values",
    [
        {}, {"step": 3}, {"recipe": "base"}, {"model": "bert", "recipe": "base"},
        {"model": "bert", "step": 3},
        {"model": "bert", "recipe": "base", "step": 3},
    ],
)  # fmt: skip
def test_any_other_start_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="start is"):
        TrainingStart(**values)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"checkpoints": []}, "must rise"),
        ({"checkpoints": [5]}, "must rise and end with steps"),
        ({"checkpoints": [10, 5]}, "must rise"),
        ({"checkpoints": [5, 5, 10]}, "must rise"),
        ({"checkpoints": [0, 10]}, "above 0"),
        ({"start": {"recipe": "first", "step": 5}}, "above 5"),
        ({"teacher": "bert"}, "go together"),
        ({"held_out": 1}, "held_out"),
        ({"held_out": -0.1}, "held_out"),
    ],
)
def test_a_pretraining_that_contradicts_itself_is_refused(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        pretraining(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"checkpoints": [1, 10]},
        {"checkpoints": [10]},
        {"start": {"recipe": "first", "step": 4}},
        {"start": {"model": "bert"}, "checkpoints": [1, 10]},
        {"held_out": 0},
    ],
)
def test_any_other_pretraining_is_accepted(changes: dict[str, Any]) -> None:
    pretraining(**changes)


def test_defaults_that_decide_what_a_corpus_holds() -> None:
    made = pretraining()
    assert (made.title, made.held_out) == (False, 0.005)
    vocabulary = LearntVocabSpec(name="v", kind="wordpiece", size=1, lowercase=True, corpus="x")
    assert vocabulary.recipe.most_words == 4_000_000 and vocabulary.recipe.size == 1
    for similarity in (0.5, 1.0):
        assert Duplicates(similarity=similarity).exact
    for similarity in (0.49, 1.01):
        with pytest.raises(ValidationError):
            Duplicates(similarity=similarity)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"size": 0}, "size"),
        ({"kind": "sentencepiece"}, "a SentencePiece vocabulary needs"),
        ({"kind": "byte-level-bpe"}, "a byte-level vocabulary needs"),
        ({"learner": "likelihood"}, "learner"),
        ({"most_words": 0}, "most_words"),
    ],
)
def test_an_impossible_vocabulary_is_refused(changes: dict[str, Any], fault: str) -> None:
    values = {"name": "v", "kind": "wordpiece", "size": 5, "lowercase": True, "corpus": "x"}
    with pytest.raises(ValidationError, match=fault):
        LearntVocabSpec.model_validate(values | changes)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"selection": {"dated_to": "May"}}, "dated_to"),
        ({"contamination": {"datasets": []}}, "contamination.datasets"),
        ({"sources": [TEXTS | {"kind": "mimic", "access": "public", "apply": "https://x.org"}]}, "access"),
    ],
)
def test_values_that_a_corpus_cannot_have_are_refused(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        corpus(**changes)


def test_pubmed_parser_leaves_no_elements_out() -> None:
    values = {"name": "p", "kind": "pmc-packages", "url": "https://host", "packages": ["a"]}
    PmcPackagesSource.model_validate(values | {"parser": "pubmed_parser", "leave_out": []})
    PmcPackagesSource.model_validate(values | {"leave_out": ["tables"]})
    with pytest.raises(ValidationError, match="cannot leave out"):
        PmcPackagesSource.model_validate(values | {"parser": "pubmed_parser", "leave_out": ["tables"]})


def faults(*corpora: CorpusSpec) -> list[tuple[str, tuple[Any, ...], str]]:
    return [*faults_of_corpora({one.name: one for one in corpora})]


def test_corpora_may_share_a_source_and_read_different_files_of_it() -> None:
    other = PUBMED | {"files": {"baseline": ["26n0002"]}}
    assert faults(corpus("a"), corpus("b", other), corpus("c", TEXTS)) == []


def test_a_source_that_is_read_differently_elsewhere_must_have_another_name() -> None:
    different = TEXTS | {"documents": "line", "language": "eng"}
    assert faults(corpus("a", TEXTS), corpus("b", PUBMED, different)) == [
        ("b", ("sources", 1, "name"),
         "specs/corpora/a.yaml has a source texts with a different documents, language; rename one"),
    ]  # fmt: skip


def test_unknown_and_repeated_names_are_reported_where_they_stand() -> None:
    made = corpus(
        "a",
        TEXTS,
        PUBMED,
        TEXTS,
        selections={"none": {}, "pubmed": {}},
        contamination={"datasets": ["bc2gm"]},
    )
    assert [(place, fault.split(";")[0]) for _, place, fault in faults(made)] == [
        (("sources", 2, "name"), "another source of this corpus is also called texts"),
        (("selections", "none"), "this corpus has no source none"),
    ]
    wrong = {("contamination", "datasets", 0): "there is no specs/datasets/bc2gm.yaml"}
    assert wrong_references(corpora={"a": made}) == wrong
