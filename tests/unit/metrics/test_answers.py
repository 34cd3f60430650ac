"""SQuAD's and BioASQ's measures by hand, by an independent implementation, and with synonyms and groups."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.examples.kinds import Answer, SpanExample
from pubmill.metrics.answers import list_scores, score_answers, submitted_answers, submitted_list
from tests.scorers import biobert_answers, squad, squad_best_f1

CONTEXT = "alpha beta gamma"
WORDS = st.lists(st.sampled_from(["the", "a", "An", "p53", "β-Wnt", "b.", "-"]), max_size=4).map(" ".join)
ITEMS = [["p53", "TP53"], ["Wnt"], ["IL-2"]]
NAME = st.sampled_from("abcde")


def example(number: int = 1, *answers: str, **fields: Any) -> SpanExample:
    """One question of a context that is nothing but its answers."""
    context, placed = "", []
    for text in answers:
        placed.append(Answer(text=text, start=len(context)))
        context += text + " "
    return SpanExample(
        id=f"q{number}", document=None, question="?", context=context + CONTEXT, answers=placed, **fields
    )


def ranked(*answers: str) -> list[tuple[str, float]]:
    return [(text, 1 / (rank + 1)) for rank, text in enumerate(answers)]


@pytest.mark.parametrize(("golds", "given_", "exact", "f1"), [
    (["the p53 gene"], "p53 gene", 1, 1), (["p53 gene"], "gene", 0, 2 / 3),
    (["p53", "gene p53 of mice"], "gene p53", 0, 2 / 3), (["p53 p53"], "p53 p53 p53", 0, 4 / 5),
    (["p53"], "", 0, 0), ([], "", 1, 1), ([], "p53", 0, 0), (["the", "p53"], "", 0, 0), (["the"], "", 1, 1),
])  # fmt: skip
def test_squad_by_hand(golds: list[str], given_: str, exact: float, f1: float) -> None:
    metrics, counts, _ = score_answers([example(1, *golds)], [ranked(given_, "p53")])
    assert metrics["exact_match"] == exact
    assert metrics["f1"] == pytest.approx(f1)
    assert ("mrr" in metrics) == bool(golds)
    assert counts == {"examples": 1, "questions": 1, "without_gold": not golds}


@given(st.lists(st.tuples(WORDS.filter(bool), WORDS), min_size=1, max_size=6))
def test_squad_equals_an_independent_implementation(pairs: list[tuple[str, str]]) -> None:
    examples = [example(number, gold) for number, (gold, _) in enumerate(pairs)]
    metrics, *_ = score_answers(examples, [ranked(given_) for _, given_ in pairs])
    scores = [squad([gold], given_) for gold, given_ in pairs]
    assert metrics["exact_match"] == pytest.approx(sum(exact for exact, _ in scores) / len(scores))
    assert metrics["f1"] == pytest.approx(sum(f1 for _, f1 in scores) / len(scores))


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from(["p53", "p53 gene", "Wnt"])), min_size=1, max_size=8),
    st.data(),
)
def test_best_f1_is_that_of_the_official_script(pairs: list[tuple[bool, str]], data: st.DataObject) -> None:
    """Probabilities of no answer are distinct, because the script also counts thresholds inside of ties."""
    parts = data.draw(st.lists(st.integers(1, 99), min_size=len(pairs), max_size=len(pairs), unique=True))
    examples = [example(n, *(["p53 gene"] if answer else [])) for n, (answer, _) in enumerate(pairs)]
    predicted = [
        [("", part / 100), (text, 1 - part / 100)] for (_, text), part in zip(pairs, parts, strict=True)
    ]
    scores = [squad(["p53 gene"], text)[1] for _, text in pairs]
    expected = squad_best_f1(scores, parts, [answer for answer, _ in pairs])
    metrics, *_ = score_answers(examples, predicted)
    assert metrics["best_f1"] == pytest.approx(expected)
    assert metrics["best_f1"] >= metrics["f1"] - 1e-12


NO_ANSWER, LONG = [("", 0.9), ("Wnt", 0.1)], "x" * 101
GROUPED = [example(n, golds=["p53"], group="q") for n in (1, 2)]
RANKS = [
    ranked("tp53", "Wnt"), ranked("a", "b", "P53", "TP53"), ranked("a", "b", "c", "d", "e", "p53"),
    ranked("p53 gene"),
]  # fmt: skip


@pytest.mark.parametrize(("examples", "predicted", "expected"), [
    # a threshold does not divide equal probabilities
    ([example(1, "p53"), example(2)], [[("", 0.5), ("p53", 0.5)], [("", 0.5), ("Wnt", 0.5)]],
     {"best_f1": 0.5}),
    # right at rank 1, at rank 3, at rank 6 (not looked at), never
    ([example(number, golds=["p53", "TP53"]) for number in range(4)], RANKS,
     {"strict_accuracy": 0.25, "lenient_accuracy": 0.5, "mrr": (1 + 1 / 3) / 4}),
    # BioBERT's program drops texts of more than 100 characters; SQuAD's best answer may have any length
    ([example(1, golds=["p53"])], [ranked(LONG, "y" * 100, "p53")], {"mrr": 1 / 2, "exact_match": 0.0}),
    ([example(1, golds=[LONG])], [ranked(LONG, "p53")], {"lenient_accuracy": 0.0, "exact_match": 1.0}),
    # no answer from one context is no answer of a question of several
    (GROUPED, [NO_ANSWER, [("p53", 0.4)]], {"strict_accuracy": 1.0}),
    ([example(1, "Wnt")], [NO_ANSWER], {"exact_match": 0.0, "strict_accuracy": 1.0}),
    # golds come before what stands in the context
    ([example(1, "Wnt", golds=["p53"])], [ranked("Wnt")], {"strict_accuracy": 0.0, "exact_match": 0.0}),
])  # fmt: skip
def test_answers_of_both_measures_by_hand(
    examples: list[SpanExample], predicted: list[Any], expected: dict[str, float]
) -> None:
    metrics, counts, _ = score_answers(examples, predicted)
    assert {name: metrics[name] for name in expected} == pytest.approx(expected)
    assert counts["examples"] == len(examples)


def test_probabilities_are_added_over_contexts_and_no_answer_has_no_rank() -> None:
    """BioASQ: Wnt 0.7 + 0.1, p53 0.2 + 0.65; SQuAD's best answer is the most probable one."""
    examples = [example(n, golds=["p53"], group="q") for n in (1, 2)] + [example(3, "Wnt")]
    predicted = [
        [("Wnt", 0.7), ("P53", 0.2), ("Myc", 0.1)], [("p53", 0.65), ("", 0.25), ("wnt", 0.1)], [("Wnt", 0.9)],
    ]  # fmt: skip
    metrics, counts, _ = score_answers(examples, predicted)
    assert counts == {"examples": 3, "questions": 2, "without_gold": 0}
    assert metrics["mrr"] == metrics["strict_accuracy"] == 1.0
    assert metrics["exact_match"] == 0.5
    metrics, *_ = score_answers(GROUPED, [[("", 1.0)], [("", 1.0)]])
    assert set(metrics.values()) == {0.0}


@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(["", "p53", "P53", "Wnt", "z" * 101]), st.integers(0, 64)), max_size=6
        ),
        min_size=1,
        max_size=4,
    )
)
def test_submitted_answers_equal_those_of_biobert(contexts: list[list[tuple[str, int]]]) -> None:
    """Probabilities are multiples of 1/64, whose sums are exact."""
    answers = [(text, part / 64) for ranked in contexts for text, part in ranked]
    assert submitted_answers(answers) == [text.lower() for text in biobert_answers(answers)]


def official_lists(items: Sequence[Sequence[str]], submitted: Sequence[str]) -> tuple[float, float, float]:
    """The loops of `calculatePRFforListQuestions`, with answers of one synonym each."""
    golden, response = [list(names) for names in items], [[answer] for answer in submitted]

    def contains(lists: list[list[str]], names: Sequence[str]) -> bool:
        for number, own in enumerate(lists):
            if any(one == other for one in own for other in names):
                lists.pop(number)
                return True
        return False

    if not response:
        return 0.0, 0.0, 0.0
    right = sum(contains(golden, names) for names in list(response))
    wrong = len(response) - right
    missed = sum(not contains(response, names) for names in list(golden))
    precision = right / (right + wrong)
    recall = right / (right + missed) if right + missed else 0.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


@given(
    st.lists(st.lists(NAME, min_size=1, max_size=3, unique=True), min_size=1, max_size=4),
    st.lists(NAME, max_size=5, unique=True),
)
def test_scores_are_those_of_the_official_loops(items: list[list[str]], submitted: list[str]) -> None:
    assert list_scores(items, submitted) == pytest.approx(official_lists(items, submitted))


def test_answers_above_the_threshold_are_submitted_and_find_their_item_once() -> None:
    assert list_scores(ITEMS, ["tp53", "wnt"]) == pytest.approx((1.0, 2 / 3, 0.8))
    assert list_scores(ITEMS, ["p53", "tp53"]) == pytest.approx((0.5, 1 / 3, 0.4))
    assert list_scores(ITEMS, []) == (0.0, 0.0, 0.0)
    answers = [("Wnt", 0.3), ("wnt", 0.2), ("p53", 0.43), ("IL-2", 0.42), ("", 0.9)]
    assert submitted_list(answers) == ["wnt", "p53"]
    assert submitted_list([("a", 0.1), ("B", 0.2)]) == ["b"], "or else the best one"
    assert submitted_list([("", 1.0)]) == []


def test_a_question_counts_once_over_its_contexts() -> None:
    contexts = [
        SpanExample(
            id=f"q_{n}", document=None, question="?", context=f"{text} x",
            answers=[Answer(text=text, start=0)], group="q", golds=["p53", "TP53", "Wnt"], items=ITEMS[:2],
        )
        for n, text in enumerate(("p53", "Wnt"))
    ]  # fmt: skip
    predicted = [[("p53", 0.9), ("x", 0.1)], [("Wnt", 0.5), ("x", 0.4)]]
    found = score_answers(contexts, predicted).metrics
    assert found["list_recall"] == 1.0 and found["list_precision"] == pytest.approx(2 / 3)
    assert found["list_f1"] == pytest.approx(0.8)
