"""Specs of corpora and pretrainings: ends of ranges, selections by source, contradictions between specs."""

from typing import Any

import pytest
from pydantic import ValidationError

from pubmill.recipes.corpora import SelectionRecipe
from pubmill.recipes.models import TrainingStart
from pubmill.recipes.reading import as_values
from pubmill.specs.corpus_specs import CorpusSpec, LearntVocabSpec, PretrainingSpec, faults_of_corpora
from tests.unit.specs.toy_mistakes import wrong_references

PUBMED: dict[str, Any] = {
    "name": "pubmed", "kind": "pubmed", "url": "https://host/pubmed", "files": {"baseline": ["26n0001"]},
}  # fmt: skip
TEXTS: dict[str, Any] = {"name": "texts", "kind": "text", "local": "mine"}
PACKAGES = {"name": "p", "kind": "pmc-packages", "url": "https://host", "packages": ["a"]}


def corpus(name: str = "abstracts", *sources: dict[str, Any], **changes: Any) -> CorpusSpec:
    values = {"name": name, "sources": sources or (PUBMED,), "selection": {"min_words": 128}}
    return CorpusSpec.model_validate(values | changes)


def pretraining(**changes: Any) -> PretrainingSpec:
    sizes = {"family": "bert", "layers": 1, "hidden_size": 4, "attention_heads": 1, "intermediate_size": 8}
    recipe = {
        "architecture": sizes, "objective": {"masking": "subword"}, "sequence_length": 8, "batch_size": 2,
        "optimisation": {"learning_rate": 1e-3}, "steps": 10,
    }  # fmt: skip
    values = {
        "name": "base", "corpus": "abstracts", "vocab": "uncased", "sentence_splitter": "https://host/punkt",
        "recipe": recipe, "checkpoints": [5, 10],
    }  # fmt: skip
    return PretrainingSpec.model_validate(values | changes)


def vocab(**changes: Any) -> LearntVocabSpec:
    values = {"name": "v", "kind": "wordpiece", "size": 5, "lowercase": True, "corpus": "x"}
    return LearntVocabSpec.model_validate(values | changes)


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


FIRST = {"recipe": "first", "step": 4}


@pytest.mark.parametrize(
    ("make", "changes", "fault"),
    [
        (TrainingStart, {"recipe": "base", "step": 0}, None),
        (TrainingStart, {}, "start is"),
        (TrainingStart, {"step": 3}, "start is"),
        (TrainingStart, {"recipe": "base"}, "start is"),
        (TrainingStart, {"model": "bert", "recipe": "base"}, "start is"),
        (TrainingStart, {"model": "bert", "step": 3}, "start is"),
        (pretraining, {"checkpoints": []}, "must rise"),
        (pretraining, {"checkpoints": [5]}, "must rise and end with steps"),
        (pretraining, {"checkpoints": [5, 5, 10]}, "must rise"),
        (pretraining, {"checkpoints": [0, 10]}, "above 0"),
        (pretraining, {"checkpoints": [1, 10], "start": {"model": "bert"}, "held_out": 0}, None),
        (pretraining, {"start": FIRST}, None),
        (pretraining, {"start": FIRST | {"step": 5}}, "above 5"),
        (pretraining, {"teacher": "bert"}, "go together"),
        (pretraining, {"held_out": 1}, "held_out"),
        (pretraining, {"held_out": -0.1}, "held_out"),
        (vocab, {"size": 1, "most_words": 1}, None),
        (vocab, {"size": 0}, "size"),
        (vocab, {"kind": "sentencepiece"}, "a SentencePiece vocabulary needs"),
        (vocab, {"kind": "byte-level-bpe"}, "a byte-level vocabulary needs"),
        (vocab, {"learner": "likelihood"}, "learner"),
        (vocab, {"most_words": 0}, "most_words"),
        (corpus, {"duplicates": {"similarity": 0.5}}, None),
        (corpus, {"duplicates": {"similarity": 1.0}}, None),
        (corpus, {"duplicates": {"similarity": 0.49}}, "similarity"),
        (corpus, {"duplicates": {"similarity": 1.01}}, "similarity"),
        (corpus, {"selection": {"dated_to": "May"}}, "dated_to"),
        (corpus, {"contamination": {"datasets": []}}, "contamination.datasets"),
        (corpus, {"sources": [TEXTS | {"kind": "mimic", "access": "public", "apply": "https://x.org"}]},
         "access"),
        (corpus, {"sources": [PACKAGES | {"leave_out": ["tables"]}]}, None),
        (corpus, {"sources": [PACKAGES | {"parser": "pubmed_parser", "leave_out": []}]}, None),
        (corpus, {"sources": [PACKAGES | {"parser": "pubmed_parser", "leave_out": ["tables"]}]},
         "cannot leave out"),
    ],
)  # fmt: skip
def test_values_that_contradict_each_other_or_are_out_of_range_are_refused(
    make: Any, changes: dict[str, Any], fault: str | None
) -> None:
    if fault is None:
        make(**changes)
    else:
        with pytest.raises((ValidationError, ValueError), match=fault):
            make(**changes)


def faults(*corpora: CorpusSpec) -> list[tuple[str, tuple[Any, ...], str]]:
    return [*faults_of_corpora({one.name: one for one in corpora})]


def test_a_source_that_is_read_differently_elsewhere_must_have_another_name() -> None:
    """Different files of it may be read."""
    other = PUBMED | {"files": {"baseline": ["26n0002"]}}
    assert faults(corpus("a"), corpus("b", other), corpus("c", TEXTS)) == []
    different = TEXTS | {"documents": "line", "language": "eng"}
    message = "specs/corpora/a.yaml has a source texts with a different documents, language; rename one"
    found = faults(corpus("a", TEXTS), corpus("b", PUBMED, different))
    assert found == [("b", ("sources", 1, "name"), message)]


def test_unknown_and_repeated_names_are_reported_where_they_stand() -> None:
    named = {"selections": {"none": {}, "pubmed": {}}, "contamination": {"datasets": ["bc2gm"]}}
    made = corpus("a", TEXTS, PUBMED, TEXTS, **named)
    assert [(place, fault.split(";")[0]) for _, place, fault in faults(made)] == [
        (("sources", 2, "name"), "another source of this corpus is also called texts"),
        (("selections", "none"), "this corpus has no source none"),
    ]
    wrong = {("contamination", "datasets", 0): "there is no specs/datasets/bc2gm.yaml"}
    assert wrong_references(corpora={"a": made}) == wrong
