"""Characters and tokens, and the best answers, by hand and against brute force."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pubmill.finetuning.tasks.span_answers import best_spans, best_texts, covering, text_of


def test_tokens_that_cover_characters() -> None:
    """Also where tokens leave characters out, have none, share one, or begin with a blank."""
    spans = [(0, 2), (2, 5), (5, 5), (7, 8), (7, 8), (8, 12)]
    assert covering(spans, 0, 2) == (0, 0)
    assert covering(spans, 1, 3) == (0, 1)
    assert covering(spans, 5, 7) is None
    assert covering(spans, 6, 8) == (3, 4)
    assert covering(spans, 9, 12) == (5, 5)
    assert covering(spans, 12, 15) is None
    assert (
        text_of("abcde  é fgh", spans, (3, 5)) == "é fgh" and text_of("abcde  é fgh", spans, (5, 5)) == "fgh"
    )


def brute_force(scores: np.ndarray[Any, Any], n_best: int, longest: int) -> set[tuple[float, int, int]]:
    starts, ends = (sorted(range(len(scores)), key=lambda i: -scores[i, side])[:n_best] for side in (0, 1))
    return {(scores[a, 0] + scores[b, 1], a, b) for a in starts for b in ends if a <= b < a + longest}


@given(st.data(), st.integers(1, 12), st.integers(1, 8), st.integers(0, 25))
def test_the_best_spans_are_those_of_brute_force(
    data: st.DataObject, n_best: int, longest: int, length: int
) -> None:
    value = st.integers(-3, 3).map(float)
    rows = data.draw(st.lists(st.tuples(value, value), min_size=length, max_size=length))
    scores = np.array(rows, dtype=np.float64).reshape(length, 2)
    sums, tokens = best_spans(scores, n_best, longest)
    found = list(zip(sums.tolist(), tokens[:, 0].tolist(), tokens[:, 1].tolist(), strict=True))
    assert len(set(found)) == len(found)
    assert set(found) == brute_force(scores, n_best, longest)


def test_texts_that_come_again_or_are_empty_take_no_place() -> None:
    assert best_texts([("a", 3.0), ("", 2.5), ("a", 2.0), ("b", 1.0), ("c", 0.0)], 2) == {"a": 3.0, "b": 1.0}
