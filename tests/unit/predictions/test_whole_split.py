"""All gold of the split counts: what is missing is empty, and what has no place is a false positive."""

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from seqeval.metrics import f1_score as entity_f1
from seqeval.scheme import IOB2
from sklearn.metrics import accuracy_score, f1_score
from sklearn.preprocessing import MultiLabelBinarizer

from pubmill.convert.dataset_counts import count
from pubmill.errors import PubmillError
from pubmill.examples.kinds import MentionsExample, RelationsExample, WordSpan, write_examples
from pubmill.examples.tagging import to_labels, to_mentions
from pubmill.storage.files import write_json
from tests.unit.predictions import toy_datasets as toy

SENTENCES: list[Any] = list(toy.examples("ner"))
TYPES = ("Disease", "Chemical")
Span = tuple[int, int, str]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    for name in toy.KINDS:
        toy.make(folder, name)
    return folder


def starts_of(sentence: Any) -> list[int]:
    return [sum(len(word) + 1 for word in sentence.words[:place]) for place in range(len(sentence.words) + 1)]


def characters(sentence: Any, mention: Span) -> dict[str, Any]:
    starts = starts_of(sentence)
    return {"start": starts[mention[0]], "end": starts[mention[1]] - 1, "type": mention[2]}


UNPLACEABLE = st.sampled_from([(1, 3), (1, 9), (6, 7), (9_000, 9_004), (60, 90)])
"""Characters that begin or end inside of a word, or behind the sentence."""


@st.composite
def predicted(draw: st.DrawFn) -> list[tuple[list[Span], list[tuple[int, int, str]]] | None]:
    """Return the mentions of words and the unplaceable spans of each sentence; None: no prediction."""
    made: list[Any] = []
    for sentence in SENTENCES:
        gold = [one for one in to_mentions(sentence.labels) if draw(st.booleans())]
        start = draw(st.integers(0, 10))
        wrong = (start, draw(st.integers(start + 1, 12)), draw(st.sampled_from(TYPES)))
        placed = [*gold, *([wrong] if draw(st.booleans()) else [])]
        lost = [(*one, draw(st.sampled_from(TYPES))) for one in draw(st.lists(UNPLACEABLE, max_size=2))]
        made.append((placed, lost) if draw(st.integers(0, 5)) else None)
    return made


def rows_of(predictions: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {
            "id": sentence.id,
            "mentions": [characters(sentence, one) for one in both[0]]
            + [{"start": start, "end": end, "type": kind} for start, end, kind in both[1]],
        }
        for sentence, both in zip(SENTENCES, predictions, strict=True)
        if both
    ]


def by_seqeval(predictions: Sequence[Any]) -> float:
    """Score by seqeval; an unplaceable mention, or a wrong one over a right one, is a word more with the
    gold label O."""
    gold, guessed = [], []
    for sentence, both in zip(SENTENCES, predictions, strict=True):
        true, (placed, lost) = to_mentions(sentence.labels), both or ([], [])
        kept: list[Span] = []
        for one in sorted(set(placed), key=lambda one: one not in true):
            free = all(one[1] <= other[0] or other[1] <= one[0] for other in kept)
            kept += [one] if free else []
        more = [kind for _, _, kind in [*lost, *(set(placed) - set(kept))]]
        gold.append([*sentence.labels, *["O"] * len(more)])
        labels = to_labels(kept, len(sentence.words), "bio")
        guessed.append([*labels, *(f"B-{kind}" for kind in more)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(entity_f1(gold, guessed, mode="strict", scheme=IOB2))


@settings(max_examples=25, deadline=None)
@given(predicted(), st.data())
def test_a_score_is_seqeval_s_over_all(results: Path, predictions: list[Any], data: st.DataObject) -> None:
    assume(any(both and both[0] for both in predictions))
    lost = sum(len(both[1]) for both in predictions if both)
    assume(2 * (lost + 1) <= sum(len(both[0]) + len(both[1]) for both in predictions if both))
    rows = rows_of(predictions)
    found = toy.score(results, "ner", rows, partial=True)
    assert found.metrics["entity_f1"] == pytest.approx(by_seqeval(predictions))
    assert found.submission.reading.missing == predictions.count(None)
    row = data.draw(st.sampled_from([row for row in rows if row["mentions"]]))
    moved = data.draw(st.sampled_from(row["mentions"]))
    moved |= {"start": moved["start"] + 9_000, "end": moved["end"] + 9_000}
    after = toy.score(results, "ner", rows, partial=True)
    assert after.metrics["entity_f1"] <= found.metrics["entity_f1"] + 1e-12


def test_half_of_the_mentions_displaced_do_not_raise_a_score(results: Path) -> None:
    """The gold and as many mentions that fit nowhere: the precision is a half."""
    rows = [json.loads(line) for line in toy.span_lines().splitlines()]
    for row in rows:
        row["mentions"] += [{**one, "start": one["start"] + 1} for one in row["mentions"]]
    found = toy.score(results, "ner", rows)
    assert (found.metrics["entity_precision"], found.metrics["entity_recall"]) == (0.5, 1.0)
    assert len(found.submission.reading.lost) == found.counts["gold"]
    scores = {one.scorer.name: one.score for one in found.by_every_scorer("ner")}
    assert scores["entity_f1_untyped"] == pytest.approx(found.metrics["entity_f1"])
    rows = [json.loads(line) for line in toy.span_lines().splitlines()]
    rows[0]["mentions"].append({"start": 9_000, "end": 9_003, "type": "Disease"})
    found = toy.score(results, "ner", rows)
    assert found.submission.lines[0]["unplaced"] == [["Disease", 2]]
    again = toy.score(results, "ner", list(found.submission.lines))
    assert again.metrics == found.metrics and again.metrics["entity_f1"] < 1


def test_a_document_whose_text_lacks_words_stays_with_false_positives(results: Path) -> None:
    whole = toy.score(results, "ner", toy.pubtator())
    first, rest = toy.pubtator().split("\n\n", 1)
    found = toy.score(results, "ner", first.replace("cured", "heald", 1) + "\n\n" + rest)
    assert (found.counts["gold"], found.counts["predicted"]) == (whole.counts["gold"], whole.counts["gold"])
    lost = found.submission.reading.lost
    assert found.counts["correct"] == whole.counts["gold"] - len(lost) and lost
    assert {one.why for one in lost} == {"stands in a text that lacks words of the dataset"}
    damaged = toy.pubtator().replace("cured", "heald")
    with pytest.raises(PubmillError, match="23 of 23 spans stand in a text that lacks words of the dataset"):
        toy.score(results, "ner", damaged)


LABELS = st.lists(st.sampled_from([None, *toy.LABELS]), min_size=12, max_size=12)


@settings(max_examples=40, deadline=None)
@given(LABELS)
def test_labels_are_scored_as_by_scikit_learn(results: Path, labels: list[str | None]) -> None:
    assume(set(labels) - {None})
    pairs = list(zip(toy.examples("rel"), labels, strict=True))
    rows = [{"id": one.id, "label": label} for one, label in pairs if label]
    found = toy.score(results, "rel", rows, partial=True).metrics
    gold, guessed = [toy.gold(one) for one, _ in pairs], [label or "" for label in labels]
    positive = ["activates", "blocks"]
    micro = f1_score(gold, guessed, labels=positive, average="micro", zero_division=0)
    macro = f1_score(gold, guessed, labels=[*toy.LABELS], average="macro", zero_division=0)
    assert found["accuracy"] == pytest.approx(accuracy_score(gold, guessed))
    assert [found["micro_f1"], found["macro_f1"]] == pytest.approx([micro, macro])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_label_sets_are_scored_as_by_scikit_learn(results: Path, kept: list[int]) -> None:
    """0: no prediction; 1: the gold; 2: all labels; 3: none."""
    assume(any(kept))
    documents: list[Any] = toy.examples("doc")
    names = sorted({label for one in documents for label in one.labels})
    sets = [[[], one.labels, names, []][how] for one, how in zip(documents, kept, strict=True)]
    rows = zip(documents, sets, kept, strict=True)
    content = [{"id": one.id, "labels": labels} for one, labels, how in rows if how]
    found = toy.score(results, "doc", content, partial=True).metrics
    binary = MultiLabelBinarizer(classes=names)
    gold, guessed = (np.array(binary.fit_transform(side)) for side in ([d.labels for d in documents], sets))
    expected = f1_score(gold, guessed, average="micro", zero_division=0)
    assert found["micro_f1"] == pytest.approx(expected)


def test_missing_examples_are_wrong(results: Path) -> None:
    rows = [{"id": one.id, "answers": toy.gold(one)} for one in toy.examples("qa")]
    found = toy.score(results, "qa", rows[:9], partial=True)
    assert {found.metrics[name] for name in ("mrr", "strict_accuracy", "exact_match", "f1")} == {0.75}
    _, rest = toy.pubtator().split("\n\n", 1)
    found = toy.score(results, "ner", rest, partial=True)
    assert found.metrics["entity_precision"] == 1.0 > found.metrics["entity_recall"]
    assert found.left_aside() == ["2 of 12 examples have no prediction, and are empty"]
    with pytest.raises(PubmillError, match=r"1 repeated \(501\)"):
        toy.score(results, "ner", rest + rest.split("\n\n", 1)[0] + "\n\n", partial=True)
    rows = [{"id": one.id, "score": 1.5} for one in toy.examples("sim")[:9]]
    with pytest.raises(PubmillError, match="3 of 12 examples have no prediction, and a correlation cannot"):
        toy.score(results, "sim", rows, partial=True)


def make_own(results: Path, name: str, kind: str, metric: str, rows: Sequence[Any]) -> None:
    folder = results / "datasets" / name
    write_examples(folder / "test.jsonl.gz", rows)
    card = {"dataset": name, "kind": kind, "access": "public", "splits": ["test"], "metric": metric}
    write_json(folder / "card.json", card | {"negative": None, "counts": {"test": count(rows)}})


def test_nested_mentions_without_a_place_are_false_positives(tmp_path: Path) -> None:
    gold = [WordSpan(0, 1, "a"), WordSpan(0, 2, "a")]
    rows = [MentionsExample(id=str(n), document=None, words=["old", "gene"], mentions=gold) for n in (1, 2)]
    make_own(tmp_path, "nested", "mentions", "entity_f1", rows)
    right = [{"start": 0, "end": 3, "type": "a"}, {"start": 0, "end": 8, "type": "a"}]
    lost = [{"start": 1, "end": 3, "type": "a"}, {"start": 99, "end": 100, "type": "a"}]
    found = toy.score(tmp_path, "nested", [{"id": "1", "mentions": right + lost}], partial=True)
    assert (found.counts["gold"], found.counts["predicted"], found.counts["correct"]) == (4, 4, 2)


def test_relations_that_the_document_lacks_are_false_positives(tmp_path: Path) -> None:
    rows = [
        RelationsExample(
            id=str(n), document=str(n), text="x", entities=[], pairs=[], relations=[["c", "d", "a"]]
        )
        for n in (1, 2)
    ]
    make_own(tmp_path, "related", "relations", "relation_f1", rows)
    content = [{"id": "1", "output": "a: c | d\na: elsewhere | d\nc | d\nThese are all."}]
    found = toy.score(tmp_path, "related", content, partial=True)
    assert (found.counts["gold"], found.counts["predicted"], found.counts["correct"]) == (2, 3, 1)


def test_mentions_of_an_answer_that_do_not_occur_are_false_positives(results: Path) -> None:
    said = [[f"{kind}: {text}" for kind, text in toy.named(one)] for one in SENTENCES]
    untyped = SENTENCES[0].words[-2]
    said[0] += ["Disease: measles", "Chemical: none", untyped, "That is all."]
    rows = [{"id": one.id, "output": "\n".join(s)} for one, s in zip(SENTENCES, said, strict=True)]
    mapping = {"disease": "Disease", "chemical": "Chemical"}
    found = toy.score(results, "ner", rows, mapping=mapping)
    assert found.counts["predicted"] == found.counts["gold"] + 2 == found.counts["correct"] + 2
    assert "Disease: measles" in [text for _, text in found.submission.reading.unmapped]
