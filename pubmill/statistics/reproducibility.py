"""CV*, the degree of reproducibility of a score."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev


def unbiased_cv(scores: Sequence[float]) -> float:
    """Return CV* of two or more measurements of the same score, in per cent.

    The sample standard deviation divided by c4(n), which makes it unbiased for normal values, as a share of
    the mean, times 1 + 1/(4n) (Belz, Popović and Mille 2022, section 3; QRA++, Belz 2025). The scale of the
    scores must begin at 0, and their mean must be above it.
    """
    n, mean = len(scores), fmean(scores)
    if n < 2 or mean <= 0:
        raise ValueError(f"CV* needs at least two scores with a mean above 0, found {list(scores)}")
    c4 = math.sqrt(2 / (n - 1)) * math.gamma(n / 2) / math.gamma((n - 1) / 2)
    return 100 * (1 + 1 / (4 * n)) * stdev(scores) / c4 / mean
