"""Floors: what each predicts on small examples, that they repeat exactly, and find labels in texts."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import (
    Answer,
    Entity,
    Example,
    MultilabelExample,
    RegressionExample,
    SequenceExample,
    SpanExample,
    TokensExample,
    write_examples,
)
from pubmill.extras.baselines import counted_floors, text_floors
from pubmill.extras.baselines.measured import FLOORS, MeasuredFloor, floors_of, measure_floors
from pubmill.metrics.records import read_predictions
from pubmill.specs import DatasetSpec


def sentence(words: str, tags: str = "", name: str = "") -> TokensExample:
    split = words.split()
    known = tags.split() or ["O"] * len(split)
    return TokensExample(id=name or words, document=None, words=split, labels=known)


def relation(label: str, text: str = "a b", spans: Sequence[tuple[int, int]] = ()) -> SequenceExample:
    entities = [Entity(start=start, end=end, type="T") for start, end in spans]
    return SequenceExample(id="e", document=None, text=text, label=label, entities=entities)


def test_names_are_unique_for_each_kind() -> None:
    for kind in ("tokens", "sequence", "multilabel", "regression", "span"):
        names = [floor.name for floor in FLOORS if floor.kind == kind]
        assert names and len(set(names)) == len(names)


def test_floors_are_restricted_to_their_tasks() -> None:
    names = {task: {one.name for one in floors_of("sequence", task)} for task in ("yes-no", "inference")}
    assert names["yes-no"] - names["inference"] == {"question_only", "context_only"}
    assert names["inference"] - names["yes-no"] == {"premise_only", "hypothesis_only"}
    assert "dictionary_train" not in {one.name for one in floors_of("tokens", "pico")}


def test_the_dictionary_takes_the_longest_name_from_left_to_right() -> None:
    known = [
        sentence("breast cancer", "B-D I-D"),
        sentence("cancer", "B-D"),
        sentence("cancer gene x", "B-G I-G I-G"),
    ]
    asked = [sentence("Breast Cancer gene x"), sentence("cancer gene"), sentence("breast")]
    assert counted_floors.by_dictionary(known, asked) == [
        ["B-D", "I-D", "O", "O"],
        ["O", "O"],
        ["O"],
    ]


def test_a_name_must_be_a_mention_in_half_of_its_places() -> None:
    known = [sentence("lead", "B"), sentence("lead"), sentence("ash", "B"), sentence("ash"), sentence("ash")]
    assert counted_floors.by_dictionary(known, [sentence("lead ash")]) == [["B", "O"]]


def test_of_the_types_of_a_name_the_commonest_is_taken() -> None:
    known = [sentence("IL-2", "B-G"), sentence("il-2", "B-P"), sentence("IL-2", "B-P")]
    assert counted_floors.by_dictionary(known, [sentence("IL-2")]) == [["B-P"]]


def test_each_word_has_its_commonest_label() -> None:
    known = [sentence("a b", "B I"), sentence("a b", "B O"), sentence("B", "I")]
    assert counted_floors.by_word(known, [sentence("A b c")]) == [["B", "I", "O"]]


def test_what_is_drawn_at_random_is_always_the_same() -> None:
    known = [sentence("a b c", "B I O")]
    asked = [sentence("x " * 30)]
    drawn = counted_floors.random_tags(known, asked)
    assert drawn == counted_floors.random_tags(known, asked) and set(drawn[0]) == {"B", "I", "O"}
    assert (
        len(set(counted_floors.random_labels([relation("1"), relation("0")], [relation("0")] * 30, "0"))) == 2
    )


def test_majority_and_all_positive() -> None:
    known = [relation("0"), relation("0"), relation("0"), relation("b"), relation("a"), relation("b")]
    assert counted_floors.majority(known, [relation("0")], "0") == ["0"]
    assert counted_floors.all_positive(known, [relation("0")], "0") == ["b"]
    assert counted_floors.all_positive(known, [relation("0")], None) is None
    assert counted_floors.all_positive(known[:3], [relation("0")], "0") is None


def test_a_pair_has_its_commonest_label_in_either_order() -> None:
    ab, ba, ac = [(0, 1), (2, 3)], [(2, 3), (0, 1)], [(0, 1), (4, 5)]
    known = [relation("0", "a b c"), relation("0", "a b c", ac), relation("1", "a b c", ab)]
    asked = [relation("0", "a b c", ba), relation("0", "a b c", ac), relation("0", "a b c")]
    assert counted_floors.pair_prior(known, asked, "0") == ["1", "0", "0"]
    assert counted_floors.pair_prior(known, asked[2:], "0") is None


def document(*known: str, text: str = "t") -> MultilabelExample:
    return MultilabelExample(id="d", document=None, text=text, labels=sorted(known))


def test_label_sets() -> None:
    known = [document("a", "b"), document("a"), document()]
    assert counted_floors.common_labels(known, [document()], None) == [["a"]]
    assert counted_floors.all_labels(known, [document()], None) == [["a", "b"]]
    drawn = counted_floors.random_label_sets(known, [document()] * 30, None)
    assert {tuple(one) for one in drawn} == {("a", "b"), ("a",), ()}


def test_a_regression_learns_words_and_dummies_hide_arguments() -> None:
    known = [relation(label, f"{label}word here") for label in ("x", "y")] * 3
    asked = [relation("?", "the yword"), relation("?", "the xword")]
    assert text_floors.regression_on(text_floors.whole_text)(known, asked, None) == ["y", "x"]
    assert text_floors.whole_text(relation("x", "IL-2 binds p53", [(0, 4), (11, 14)])) == (
        "argumentdummy binds argumentdummy"
    )
    assert text_floors.regression_on(text_floors.whole_text)(known[:1], asked, None) is None
    assert text_floors.regression_on(text_floors.second_text)(known, asked, None) is None


def test_one_text_of_a_pair_is_read_alone() -> None:
    pair = SequenceExample(id="e", document=None, text="question", text_pair="context", label="yes")
    assert (text_floors.first_text(pair), text_floors.second_text(pair)) == ("question", "context")
    assert text_floors.whole_text(pair) == "question\ncontext"


def test_a_regression_for_each_label_of_documents() -> None:
    known = [document("a", text="alpha word"), document("b", text="beta word"), document(text="word")] * 4
    asked = [document(text="alpha beta"), document(text="word")]
    found = text_floors.regression_of_label_sets(known, asked, None)
    assert found == [["a", "b"], []]
    assert text_floors.regression_of_label_sets([document()], asked, None) == [[], []]


def test_pairs_of_texts_are_scored_by_what_they_share() -> None:
    pairs = [
        RegressionExample(id=str(n), document=None, text="a gene binds", text_pair=other, score=1.0)
        for n, other in enumerate(["A gene binds", "a gene", "none"])
    ]
    assert text_floors.word_overlap([], pairs, None) == [1.0, pytest.approx(2 / 3), 0.0]
    cosines = text_floors.cosine(pairs, pairs, None)
    assert cosines[0] == pytest.approx(1.0) and 0 < cosines[1] < 1 and cosines[2] == 0


def test_answers_without_a_model() -> None:
    known = [
        SpanExample(
            id=str(n),
            document=None,
            question="?",
            context="x y",
            answers=[Answer(text=text, start=0)],
            golds=golds,
        )
        for n, (text, golds) in enumerate([("x", []), ("x", []), ("x", ["z"])])
    ]
    assert counted_floors.commonest_answers(known, known[:1], None) == [[("x", 2 / 3), ("z", 1 / 3)]]
    many = [replace(known[0], golds=[str(n) for n in range(9)])]
    [answers] = counted_floors.commonest_answers(many, known[:1], None)
    assert len(answers) == 5  # BioASQ's most
    drawn = counted_floors.random_words(known, known, None)
    assert drawn == counted_floors.random_words(known, known, None)
    assert all({text for text, _ in one} == {"x", "y"} for one in drawn)


DATA = DatasetSpec.model_construct(
    name="made-up", kind="sequence", task="relation", negative="0", metric="micro_f1", access="public"
)


def measured(
    folder: Path, known: Sequence[Example], test: Sequence[Example], data: DatasetSpec = DATA
) -> tuple[dict[str, MeasuredFloor], dict[str, bytes]]:
    """Measure the floors of examples; return them by name, and the files that they write."""
    files = {split: folder / f"{split}.jsonl.gz" for split in ("train", "test")}
    for split, examples in (("train", known), ("test", test)):
        write_examples(files[split], examples)
    found = measure_floors(data, files, folder / "floors")
    written = {path.name: path.read_bytes() for path in sorted((folder / "floors").iterdir())}
    return {one.floor: one for one in found}, written


def numbered(texts_of: Sequence[tuple[str, str]]) -> list[SequenceExample]:
    return [
        SequenceExample(id=f"e{number}", document=None, text=text, label=label)
        for number, (text, label) in enumerate(texts_of)
    ]


LEAKED = numbered(
    [(f"text {n % 7} says {'zeta' if n % 3 else 'eta'}", str(int(n % 3 > 0))) for n in range(60)]
)
HIDDEN = numbered([(f"text {n % 7} says nothing", str(int(n % 3 > 0))) for n in range(60)])


def test_a_label_that_the_text_gives_away_is_found(tmp_path: Path) -> None:
    leaked, _ = measured(tmp_path / "leaked", LEAKED, LEAKED[::2])
    hidden, _ = measured(tmp_path / "hidden", HIDDEN, HIDDEN[::2])
    assert [name for name, one in leaked.items() if one.gives_labels_away] == ["tfidf"]
    assert not any(one.gives_labels_away for one in hidden.values())


def test_floors_are_repeated_byte_by_byte_and_written_as_predictions(tmp_path: Path) -> None:
    found, written = measured(tmp_path / "one", LEAKED, LEAKED[::2])
    assert (found, written) == measured(tmp_path / "other", LEAKED, LEAKED[::2])
    assert set(found) == {"majority", "all_positive", "random", "tfidf"}  # no pairs are marked
    for name in found:
        path = tmp_path / f"one/floors/{name}.predictions.jsonl.gz"
        assert len(read_predictions(path, LEAKED[::2])) == 30
    assert found["majority"].score == pytest.approx(found["all_positive"].score)


def test_a_dataset_needs_examples_to_learn_from(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="needs examples in train and test"):
        measured(tmp_path, [], LEAKED)


@pytest.mark.parametrize(("access", "mode"), [("public", 0o644), ("credentialed", 0o600)])
def test_predictions_on_licensed_examples_are_their_owners_alone(
    tmp_path: Path, access: str, mode: int
) -> None:
    before = os.umask(0o022)
    try:
        known = [relation(label, spans=[(0, 1), (2, 3)]) for label in "01"]
        examples = [replace(one, id=str(number)) for number, one in enumerate(known)]
        measured(tmp_path, examples, examples, DATA.model_copy(update={"access": access}))
    finally:
        os.umask(before)
    found = {path.stat().st_mode & 0o777 for path in (tmp_path / "floors").glob("*.predictions.jsonl.gz")}
    assert found == {mode}
