"""Conversion between characters and tokens, and selection of the best answers from token scores."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

Characters = tuple[int, int]
"""First character, last character + 1."""
Tokens = tuple[int, int]
"""First token, last token (inclusive)."""
Scores = NDArray[np.float64]


def covering(spans: Sequence[Characters], start: int, end: int) -> Tokens | None:
    """Return the fewest tokens that cover the characters `start` to `end`, as far as tokens cover them.

    If a text begins or ends inside a token, the whole token is taken. None if no token covers any of the
    characters, because the tokenizer removed them.
    """
    first = bisect_right(spans, start, key=lambda span: span[1])
    last = bisect_left(spans, end, key=lambda span: span[0]) - 1
    return (first, last) if first <= last else None


def text_of(context: str, spans: Sequence[Characters], tokens: Tokens) -> str:
    """Return the context's characters from the first token to the last, without surrounding white space,
    which some tokenizers make a token."""
    first, last = tokens
    return context[spans[first][0] : spans[last][1]].strip()


def best_spans(scores: Scores, n_best: int, longest: int) -> tuple[Scores, NDArray[np.int64]]:
    """Return all answers from one of the `n_best` best starts to one of the `n_best` best ends.

    `scores`: tokens x 2, start and end. Returns the sums of both scores, and answers x 2 with first and last
    token, without answers that end before they start or have more than `longest` tokens. Their order depends
    only on the scores, also where these are equal, as they often are in bfloat16.
    """
    starts, ends = (np.argsort(-scores[:, side], kind="stable")[:n_best] for side in (0, 1))
    lengths = ends[None, :] - starts[:, None]
    start, end = np.nonzero((lengths >= 0) & (lengths < longest))
    first, last = starts[start], ends[end]
    return scores[first, 0] + scores[last, 1], np.stack([first, last], axis=1)


def best_texts(candidates: Iterable[tuple[str, float]], n_best: int) -> dict[str, float]:
    """Return the first `n_best` distinct texts of candidates, sorted from best to worst, with their scores;
    empty texts are left out."""
    best: dict[str, float] = {}
    new = ((text, score) for text, score in candidates if text and text not in best)
    for text, score in islice(new, n_best):
        best[text] = score
    return best


def probabilities(scores: Sequence[float]) -> list[float]:
    """Return the softmax of scores in double precision."""
    raised = np.exp(np.asarray(scores) - max(scores, default=0.0))
    shares: list[float] = (raised / raised.sum()).tolist()
    return shares
