"""Scores split by what items share with training: the parts, and that they add up to the whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.examples.kinds import Entity, SequenceExample, TokensExample
from pubmill.metrics.classes import score_labels
from pubmill.metrics.entities import score_entities
from pubmill.metrics.training_overlap import (
    CONCEPT_PARTS,
    Counts,
    KnownConcepts,
    KnownMentions,
    KnownPairs,
    corpus_parts,
    document_parts,
    entity_counts,
    entity_parts,
    form,
    label_counts,
    relation_parts,
    total,
    year_parts,
)

WORDS = ("IL-2", "il-2", "IL", "2", "-", "asthma", "Asthma", "x")
LABELS = ("O", "B", "I", "B-A", "I-A", "B-C", "I-C")


def sentence(words: str, labels: str, document: str | None = None) -> TokensExample:
    return TokensExample(id=words, document=document, words=words.split(), labels=labels.split())


def relation(one: str, other: str, label: str = "yes", marked: bool = True) -> SequenceExample:
    text = f"{one} and {other}"
    spans = [(0, len(one)), (len(text) - len(other), len(text))]
    entities = [Entity(start=start, end=end, type="T") for start, end in spans] if marked else []
    return SequenceExample(id=text, document=None, text=text, label=label, entities=entities)


KNOWN = KnownMentions([sentence("IL-2 in chronic Asthma", "B-A O B-C I-C"), sentence("so", "O")])


@pytest.mark.parametrize(
    ("words", "labels", "part"),
    [
        ("IL-2", "B-A", "verbatim"),
        ("il-2", "B-A", "other case"),
        ("chronic asthma", "B-C I-C", "other case"),
        ("IL 2", "B-A I-A", "other form"),
        ("il2", "I-A", "other form"),
        ("chronic - Asthma", "B-C I-C I-C", "other form"),
        ("IL-2", "B-C", "new"),
        ("Asthma", "B-C", "new"),
        ("-", "B-A", "new"),
    ],
)
def test_the_part_of_a_mention(words: str, labels: str, part: str) -> None:
    """Types must agree, and a part of a known name is a name of its own."""
    example = sentence(words, labels)
    found = entity_parts(KNOWN, [example], [example.labels])
    assert {name: counts for name, counts in found.items() if counts != Counts()} == {part: Counts(1, 1, 1)}


def test_predicted_mentions_have_the_part_of_their_own_words() -> None:
    gold = [sentence("IL-2 of chronic Asthma", "B-A O B-C I-C")]
    found = entity_parts(KNOWN, gold, [["B-A", "O", "O", "B-C"]])
    assert found["verbatim"] == Counts(2, 1, 1) and found["new"] == Counts(0, 1, 0)
    assert (found["verbatim"].precision, found["verbatim"].recall) == (1.0, 0.5)
    assert found["verbatim"].f1 == pytest.approx(2 / 3) and Counts().f1 == 0
    assert (Counts().precision, Counts().recall) == (0, 0)


def sentences(count: int) -> st.SearchStrategy[list[tuple[str, str, str]]]:
    word = st.tuples(st.sampled_from(WORDS), st.sampled_from(LABELS), st.sampled_from(LABELS))
    return st.lists(st.lists(word, min_size=1, max_size=6).map(_joined), min_size=1, max_size=count)


def _joined(words: list[tuple[str, str, str]]) -> tuple[str, str, str]:
    text, gold, predicted = (" ".join(part) for part in zip(*words, strict=True))
    return text, gold, predicted


@given(sentences(4), sentences(6))
def test_entity_parts_add_up_to_the_score(
    known: list[tuple[str, str, str]], scored: list[tuple[str, str, str]]
) -> None:
    training = [sentence(text, labels) for text, labels, _ in known]
    gold = [sentence(text, labels) for text, labels, _ in scored]
    predicted = [labels.split() for _, _, labels in scored]
    whole = score_entities([example.labels for example in gold], predicted)
    counts = Counts(*(whole.counts[name] for name in Counts._fields))
    parts = entity_parts(KnownMentions(training), gold, predicted)
    each = [entity_counts(example, labels) for example, labels in zip(gold, predicted, strict=True)]
    assert total(parts.values()) == total(each) == counts
    assert (
        total(
            document_parts({one.document for one in training}, [one.document for one in gold], each).values()
        )
        == counts
    )
    assert total(parts.values()).f1 == pytest.approx(whole.metrics["entity_f1"])
    assert all(one.correct <= min(one.gold, one.predicted) for one in parts.values())


PAIRS = KnownPairs(
    [relation("aspirin", "IL-2"), relation("ibuprofen", "COX"), relation("a", "b", marked=False)]
)


@pytest.mark.parametrize(
    ("example", "part"),
    [
        (relation("Aspirin", "IL 2"), "pair"),
        (relation("IL-2", "aspirin"), "pair"),
        (relation("aspirin", "COX"), "both apart"),
        (relation("aspirin", "new"), "one"),
        (relation("other", "new"), "none"),
        (relation("a", "b"), "none"),
        (relation("aspirin", "IL-2", marked=False), "unmarked"),
        (relation("@GENE$", "@DISEASE$"), "unmarked"),
        (relation("+", "-"), "none"),
    ],
)
def test_the_part_of_a_relation(example: SequenceExample, part: str) -> None:
    found = relation_parts(PAIRS, [example], ["yes"], "no")
    assert {name: counts for name, counts in found.items() if counts != Counts()} == {part: Counts(1, 1, 1)}


names = st.sampled_from(["aspirin", "IL-2", "COX", "new", "@GENE$"])
labels = st.sampled_from(["yes", "no", "other"])


@given(
    st.lists(st.tuples(names, names, labels, labels), min_size=1, max_size=8), st.sampled_from(["no", None])
)
def test_relation_parts_add_up_to_the_score(
    scored: list[tuple[str, str, str, str]], negative: str | None
) -> None:
    gold = [relation(one, other, label) for one, other, label, _ in scored]
    predicted = [label for *_, label in scored]
    counts = score_labels([example.label for example in gold], predicted, negative).counts
    parts = relation_parts(PAIRS, gold, predicted, negative)
    assert total(parts.values()) == Counts(*(counts[name] for name in Counts._fields))
    each = [label_counts(one.label, other, negative) for one, other in zip(gold, predicted, strict=True)]
    assert total(each) == total(parts.values())


def test_documents() -> None:
    each = [Counts(1, 1, 1), Counts(2, 0, 0), Counts(3, 3, 0)]
    assert list(document_parts({"1", None}, ["1", "2", None], each).values()) == each


def test_pretraining_and_years() -> None:
    each = [Counts(1, 1, 1), Counts(2, 0, 0), Counts(3, 3, 0)]
    assert corpus_parts([True, False, True], each) == {
        "in the corpus": Counts(4, 4, 1),
        "not found in the corpus": Counts(2, 0, 0),
    }
    found = year_parts({"1": 1999, "2": 2000, "4": 2004}, ["1", "2", None], each)
    assert found == {"1995-1999": each[0], "2000-2004": each[1], "year not known": each[2]}


def test_new_mentions_are_split_by_their_identifiers() -> None:
    """A mention has a known concept if one of its identifiers is in training."""
    gold = [sentence("tumour of IL-2 and Krebs or ulcer", "B-C O B-A O B-C O B-C")]
    scored = [{(0, 1): frozenset({"D1", "D9"}), (2, 3): frozenset({"D9"}), (4, 5): frozenset({"D2"})}]
    predicted = [["B-C", "O", "B-A", "O", "O", "B-C", "O"]]
    found = entity_parts(KNOWN, gold, predicted, KnownConcepts({"D1"}, scored))
    assert {name: counts for name, counts in found.items() if counts != Counts()} == {
        "verbatim": Counts(1, 1, 1),
        "new name": Counts(1, 1, 1),
        "new concept": Counts(1, 0, 0),
        "no identifier": Counts(1, 1, 0),
    }
    assert "new" not in found


@given(sentences(4), sentences(6), st.data())
def test_parts_by_identifier_add_up_to_new(
    known: list[tuple[str, str, str]], scored: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    mentions = KnownMentions([sentence(text, labels) for text, labels, _ in known])
    gold = [sentence(text, labels) for text, labels, _ in scored]
    predicted = [labels.split() for _, _, labels in scored]
    names = st.frozensets(st.sampled_from(["D1", "D2"]))
    spans = st.tuples(st.integers(0, 3), st.integers(1, 4))
    identifiers = [data.draw(st.dictionaries(spans, names)) for _ in gold]
    plain = entity_parts(mentions, gold, predicted)
    split = entity_parts(mentions, gold, predicted, KnownConcepts({"D1"}, identifiers))
    assert total(split[part] for part in CONCEPT_PARTS) == plain["new"]
    assert total(split.values()) == total(plain.values())


def test_forms() -> None:
    assert form("IL-2 (α)") == form("il2α") == "il2α" and form("+/-") == ""
