"""From characters to tokens and back, and from scores of tokens to the best answers."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

Characters = tuple[int, int]
"""First character, last character + 1."""
Tokens = tuple[int, int]
"""First token, last token (the last one is part of it)."""
Scores = NDArray[np.float64]


def covering(spans: Sequence[Characters], start: int, end: int) -> Tokens | None:
    """The fewest tokens that hold all of the characters `start` to `end` that any token holds.

    Where a text begins or ends inside a token, this is the whole token. None where no token holds any of
    them, as the tokenizer leaves some characters out.
    """
    first = bisect_right(spans, start, key=lambda span: span[1])
    last = bisect_left(spans, end, key=lambda span: span[0]) - 1
    return (first, last) if first <= last else None


def text_of(context: str, spans: Sequence[Characters], tokens: Tokens) -> str:
    """The context's own characters from the first token to the last, without the white space around them:
    to some tokenizers a space can be a token."""
    first, last = tokens
    return context[spans[first][0] : spans[last][1]].strip()


def best_spans(scores: Scores, n_best: int, longest: int) -> tuple[Scores, NDArray[np.int64]]:
    """All answers from one of the `n_best` best starts to one of the `n_best` best ends.

    `scores`: tokens x 2, for the start and for the end. Returns the sums of both scores, and answers x 2
    with the first and the last token; none that ends before it starts or has more than `longest` tokens.
    Their order depends on nothing but the scores; so it does where scores are equal, as in bfloat16 they
    often are.
    """
    starts, ends = (np.argsort(-scores[:, side], kind="stable")[:n_best] for side in (0, 1))
    lengths = ends[None, :] - starts[:, None]
    start, end = np.nonzero((lengths >= 0) & (lengths < longest))
    first, last = starts[start], ends[end]
    return scores[first, 0] + scores[last, 1], np.stack([first, last], axis=1)


def best_texts(candidates: Iterable[tuple[str, float]], n_best: int) -> dict[str, float]:
    """The first `n_best` texts of candidates that are sorted from the best to the worst, with their scores;
    a text that comes again is the same answer, and an empty one is none."""
    found: dict[str, float] = {}
    new = ((text, score) for text, score in candidates if text and text not in found)
    for text, score in islice(new, n_best):
        found[text] = score
    return found


def probabilities(scores: Sequence[float]) -> list[float]:
    """The softmax of scores, in double precision."""
    raised = np.exp(np.asarray(scores) - max(scores, default=0.0))
    shares: list[float] = (raised / raised.sum()).tolist()
    return shares
