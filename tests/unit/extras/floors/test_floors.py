"""Floors: what each predicts on small examples, scores, ceilings, and the program that writes them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import (
    Entity,
    MultilabelExample,
    RegressionExample,
    SequenceExample,
    TokensExample,
    write_examples,
)
from pubmill.extras.floors.floor_predictions import (
    FLOORS,
    ceiling_of,
    floors_of,
    measure_floors,
    prediction_row,
)
from pubmill.extras.floors.floors_recipes import CeilingScore, FloorsRecipe
from pubmill.storage.files import read_json, read_jsonl_gz
from tests.unit.programs import run_program
from tests.unit.toy_examples import examples


def sentence(words: str, tags: str = "") -> TokensExample:
    split = words.split()
    return TokensExample(id=words, document=None, words=split, labels=tags.split() or ["O"] * len(split))


def relation(label: str, text: str = "a b", spans: Sequence[tuple[int, int]] = ()) -> SequenceExample:
    entities = [Entity(start=start, end=end, type="T") for start, end in spans]
    return SequenceExample(id="e", document=None, text=text, label=label, entities=entities)


def document(*known: str, text: str = "t") -> MultilabelExample:
    return MultilabelExample(id="d", document=None, text=text, labels=sorted(known))


def pair(one: str, other: str, score: float, ratings: Sequence[float] = ()) -> RegressionExample:
    return RegressionExample(
        id=other, document=None, text=one, text_pair=other, score=score, ratings=list(ratings)
    )


def predicted(name: str, known: Sequence[Any], test: Sequence[Any], task: str, kind: str) -> list[Any]:
    [floor] = [one for one in floors_of(kind, task) if one.name == name]
    return floor.predict(known, test)


def test_every_kind_has_floors_whose_names_are_unique() -> None:
    for kind in ("tokens", "sequence", "multilabel", "regression", "span"):
        places = [(one.name, task) for one in FLOORS if one.kind == kind for task in one.tasks or ("",)]
        assert places and len(set(places)) == len(places)


@pytest.mark.parametrize(
    ("known", "asked", "labels"),
    [
        ([("breast cancer", "B-D I-D"), ("cancer", "B-D"), ("cancer gene x", "B-G I-G I-G")],
         "Breast Cancer gene x", "B-D I-D O O"),
        ([("breast cancer", "B-D I-D"), ("cancer", "B-D"), ("cancer gene x", "B-G I-G I-G")],
         "cancer gene", "O O"),
        ([("lead", "B"), ("lead", ""), ("ash", "B"), ("ash", ""), ("ash", "")], "lead ash", "B O"),
        ([("IL-2", "B-G"), ("il-2", "B-P"), ("IL-2", "B-P")], "IL-2", "B-P"),
    ],
)  # fmt: skip
def test_the_dictionary_takes_the_longest_name_of_half_of_its_places(
    known: list[tuple[str, str]], asked: str, labels: str
) -> None:
    found = predicted("dictionary", [sentence(*one) for one in known], [sentence(asked)], "ner", "tokens")
    assert found == [labels.split()]


def test_each_word_has_its_commonest_label() -> None:
    known = [sentence("a b", "B I"), sentence("a b", "B O"), sentence("B", "I")]
    assert predicted("dictionary", known, [sentence("A b c")], "pico", "tokens") == [["B", "I", "O"]]


def test_majority_is_the_commonest_label_or_label_set() -> None:
    known = [relation("0"), relation("0"), relation("b"), relation("a")]
    assert predicted("majority", known, [relation("?")] * 2, "relations", "sequence") == ["0", "0"]
    sets = [document("a", "b"), document("a"), document()]
    assert predicted("majority", sets, [document()], "classification", "multilabel") == [["a"]]
    questions = examples("qa")
    [answers] = predicted("majority", questions, questions[:1], "factoid", "span")
    assert answers and sum(share for _, share in answers) <= 1


def test_a_regression_learns_words_and_dummies_hide_arguments() -> None:
    known = [relation(label, f"{label}word here") for label in ("x", "y")] * 3
    asked = [relation("?", "the yword"), relation("?", "the xword")]
    assert predicted("linear", known, asked, "relations", "sequence") == ["y", "x"]
    assert predicted("linear", known[:1], asked, "relations", "sequence") == ["x", "x"]
    hidden = [relation(label, f"{label} here", [(0, 1)]) for label in ("x", "y", "y")] * 3
    assert predicted("linear", hidden, [relation("?", "x here", [(0, 1)])], "relations", "sequence") == ["y"]
    labelled = [document("a", text="alpha word"), document("b", text="beta word"), document(text="word")] * 4
    texts = [document(text="alpha beta"), document(text="word")]
    assert predicted("linear", labelled, texts, "classification", "multilabel") == [["a", "b"], []]
    assert predicted("linear", [document()], texts, "classification", "multilabel") == [[], []]


def test_pairs_of_texts_are_scored_by_what_they_share() -> None:
    known = [pair("a gene binds", "A gene binds", 4), pair("a gene binds", "a gene", 2), pair("x y", "z", 0)]
    close, far = predicted("linear", known, [known[0], known[2]], "similarity", "regression")
    assert close == pytest.approx(4, abs=0.5) and far == pytest.approx(0, abs=0.5)


def recipe(**changes: Any) -> FloorsRecipe:
    values = {"name": "pubmedqa", "kind": "sequence", "task": "yes-no", "splits": ("train", "dev", "test")}
    return FloorsRecipe(**{**values, "access": "public", "metric": "accuracy", **changes})


@pytest.mark.parametrize(
    ("metric", "ratings", "ceiling"),
    [
        ("pearson", [(1, 1), (2, 3), (4, 3)], 75.59), ("pearson", [(1, 1), (1, 2)], 100),
        ("pearson", [()], 100), ("spearman", [(1, 1), (2, 3), (4, 3)], 100),
    ],
)  # fmt: skip
def test_a_ceiling_is_the_agreement_of_annotators_where_ratings_are_known(
    metric: str, ratings: list[tuple[float, ...]], ceiling: float
) -> None:
    test = [pair("a", "b", 1, own) for own in ratings]
    found = ceiling_of(recipe(name="biosses", kind="regression", metric=metric), test)
    assert found.score == pytest.approx(ceiling, abs=0.01)
    assert ceiling_of(recipe(), []).score == 78.0 and ceiling_of(recipe(name="x"), []) == CeilingScore()


@pytest.mark.parametrize(
    ("name", "prediction", "line"),
    [("ner", ["O"] * 12, {"labels": ["O"] * 12}), ("doc", ["a"], {"labels": ["a"]}),
     ("rel", "blocks", {"label": "blocks"}), ("sim", 1.5, {"score": 1.5}),
     ("qa", [("x", 0.5)], {"answers": [{"text": "x", "probability": 0.5}]})],
)  # fmt: skip
def test_a_line_has_what_its_kind_predicts(name: str, prediction: Any, line: dict[str, Any]) -> None:
    first = examples(name)[0]
    assert prediction_row(first, prediction) == {"id": first.id, **line}


def questions(number: int) -> list[SequenceExample]:
    return [
        SequenceExample(
            id=str(n), document=None, text="Does it work?", text_pair=f"It {'works' if n % 3 else 'fails'}.",
            label="yes" if n % 3 else "no",
        )
        for n in range(number)
    ]  # fmt: skip


def test_the_program_writes_scores_and_predictions(tmp_path: Path) -> None:
    for split, number in (("train", 30), ("dev", 3), ("test", 12)):
        write_examples(tmp_path / f"pubmedqa/{split}.jsonl.gz", questions(number))
    words = ["--recipe", json.dumps(vars(recipe())), "--examples", tmp_path / "pubmedqa"]
    run_program("floors", *words, "--output", tmp_path / "floors/pubmedqa.json")
    found = read_json(tmp_path / "floors/pubmedqa.json")
    assert found["floors"]["majority"]["accuracy"] == pytest.approx(8 / 12)
    assert found["floors"]["linear"]["accuracy"] == 1.0
    assert found["ceilings"]["accuracy"]["score"] == 78.0
    rows = list(read_jsonl_gz(tmp_path / "floors/pubmedqa/linear.predictions.jsonl.gz"))
    assert [row["label"] for row in rows] == [one.label for one in questions(12)]


def test_a_dataset_without_test_is_refused(tmp_path: Path) -> None:
    write_examples(tmp_path / "train.jsonl.gz", questions(3))
    with pytest.raises(PubmillError, match="pubmedqa needs examples in train and test"):
        measure_floors(recipe(), {"train": tmp_path / "train.jsonl.gz"}, tmp_path)
