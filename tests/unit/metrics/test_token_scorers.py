"""Scorers of labelled words on three small documents, counted by hand."""

import pytest

from pubmill.examples.kinds import TokensExample
from pubmill.metrics.scorers.token_scorers import ENTITIES, over_documents

DOCUMENTS = [
    ("B-X I-X O B-Y O B-Y O B-Y", "B-X O O B-X O I-Y O B-Y"),
    ("B-X B-X B-Y", "B-X I-X O"),
    ("O O", "O O"),
]
"""Gold and predicted labels: 7 and 5 mentions, of which 2 are equal."""


def examples(marked: bool = True) -> list[TokensExample]:
    return [
        TokensExample(
            id=str(place), document=f"d{place}" if marked else None, words=gold.split(), labels=gold.split()
        )
        for place, (gold, _) in enumerate(DOCUMENTS)
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("entity_f1_untyped", 2 * 3 / (7 + 5)),
        ("entity_f1_strict_iob2", 2 * 1 / (7 + 4)),
        ("entity_f1_runs", 2 * 3 / (6 + 5)),
        ("entity_f1_macro", (0 + 2 * 2 / (4 + 2)) / 2),
        ("entity_f1_weighted", (3 * 0 + 4 * 2 * 2 / (4 + 2)) / 7),
        ("entity_f1_documents", (2 * 2 / (4 + 4) + 0) / 2),
        ("relaxed_f1_untyped", 2 * 1 * (6 / 7) / (1 + 6 / 7)),
        ("entity_f1_left", 2 * 4 / (7 + 5)),
        ("entity_f1_right", 2 * 3 / (7 + 5)),
    ],
)
def test_mentions_are_counted_as_the_scorer_says(name: str, expected: float) -> None:
    [scorer] = [one for one in ENTITIES if one.name == name]
    predicted = [labels.split() for _, labels in DOCUMENTS]
    assert scorer.score(examples(), predicted, None) == pytest.approx(expected)


def test_documents_need_marks_and_mentions() -> None:
    """Without marks, and without any mention, there is no mean over documents."""
    predicted = [labels.split() for _, labels in DOCUMENTS]
    assert over_documents(examples(marked=False), predicted, None) is None
    assert over_documents(examples()[2:], predicted[2:], None) is None
