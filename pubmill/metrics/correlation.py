"""Pearson's correlation of predicted scores with those of experts."""

import statistics
from collections.abc import Sequence


def score_correlation(
    gold: Sequence[float], predicted: Sequence[float]
) -> tuple[dict[str, float], dict[str, int]]:
    """`pearson` (-1..1) over all pairs of texts (BIOSSES: gu2020 section 4.4).

    It isn't defined, and left out, where there are fewer than two pairs or all gold or all predicted
    scores are the same. Count: `examples`.
    """
    counts = {"examples": len(gold)}
    if len(set(gold)) < 2 or len(set(predicted)) < 2:
        return {}, counts
    try:
        # Rounding can carry it a little beyond 1.
        return {"pearson": max(-1.0, min(1.0, statistics.correlation(gold, predicted)))}, counts
    except statistics.StatisticsError:  # so nearly the same that their squared differences vanish
        return {}, counts
