"""Tables of made-up runs, which hold only true scores, and numbers put into them that no runs give."""

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from statistics import fmean, median

from pubmill.extras.audit import reachability as reach
from pubmill.extras.audit.audit_recipes import Over, ScoreCounts, ScoreKind
from tests.attack import attack
from tests.world.dice import Dice

KINDS: tuple[ScoreKind, ...] = ("share", "f1", "mean_f1", "reciprocal_rank")
OVER: tuple[Over, ...] = ("mean", "median", "max")
CELLS = 6
COMBINED: dict[Over, Callable[[Sequence[float]], float]] = {"mean": fmean, "median": median, "max": max}


def _exact(over: Over, runs: Sequence[Fraction]) -> Fraction:
    return {"mean": sum(runs, Fraction(0)) / len(runs), "median": Fraction(median(runs)), "max": max(runs)}[
        over
    ]


def _f1(dice: Dice, gold: int, wrong: int) -> tuple[int, int]:
    """Return numerator and denominator of one class's F1 in one run, mostly a good one."""
    right = dice.between(gold // 2, gold) if dice.chance(0.8) else dice.between(0, gold)
    found = dice.between(0, min(wrong, gold))
    return 2 * right, gold + right + found


def _run(dice: Dice, score: ScoreCounts) -> tuple[Fraction, float]:
    """Return one run's score, exact and as a program with floating-point numbers computes it."""
    size = score.sizes[0]
    if score.kind == "share":
        right = dice.between(0, size)
        return Fraction(right, size), right / size
    if score.kind == "reciprocal_rank":
        ranks = [dice.between(0, 5) for _ in range(size)]
        exact = sum((Fraction(1, rank) for rank in ranks if rank), Fraction(0)) / size
        return exact, sum(1 / rank for rank in ranks if rank) / size
    wrong = 10**4 if score.wrong is None else score.wrong
    parts = [_f1(dice, gold, wrong) for gold in score.sizes]
    exact = sum((Fraction(*part) for part in parts), Fraction(0)) / len(parts)
    return exact, sum(above / below for above, below in parts) / len(parts)


def _score(dice: Dice) -> ScoreCounts:
    kind = dice.pick(KINDS)
    largest = {"share": 2000, "f1": 2000, "mean_f1": 500, "reciprocal_rank": 200}[kind]
    sizes = tuple(dice.between(1, dice.pick([9, largest])) for _ in range(3 if kind == "mean_f1" else 1))
    return ScoreCounts(kind=kind, sizes=sizes, wrong=dice.pick([None, dice.between(0, 50)]))


def _printed(dice: Dice, exact: Fraction, floating: float, decimals: int) -> str:
    """Return a score in per cent, rounded half up, half even, or as a program prints it."""
    if dice.chance(0.4):
        return f"{100 * floating:.{decimals}f}"
    way = dice.pick([ROUND_HALF_UP, ROUND_HALF_EVEN])
    scaled = 100 * exact * 10**decimals
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    tie = Fraction(rest, scaled.denominator) - Fraction(1, 2)
    digit = Decimal(whole) + (Decimal("0.5") if tie == 0 else Decimal("0.6") if tie > 0 else Decimal("0.4"))
    return f"{digit.quantize(Decimal(1), rounding=way).scaleb(-decimals):.{decimals}f}"


@attack("true-tables", cases=10_000, quick=40)
def _true_table(dice: Dice, folder: Path) -> str:
    """Tables of made-up true runs (accuracy, F1, macro F1, reciprocal ranks; mean, median, maximum; three
    ways of rounding): no value is called unreachable."""
    score, over = _score(dice), dice.pick(OVER)
    runs, decimals = dice.between(1, 10), dice.between(0, 3)
    for _ in range(CELLS):
        found = [_run(dice, score) for _ in range(runs)]
        exact = _exact(over, [one for one, _ in found])
        printed = _printed(dice, exact, COMBINED[over]([one for _, one in found]), decimals)
        if reach.is_reachable(reach.rounding_interval(printed), (score,), runs, over) is False:
            return f"{printed} of {score}, {over} of {runs} runs ({exact}), is called unreachable"
    return ""


@attack("planted-values", cases=10_000, quick=20)
def _planted(dice: Dice, folder: Path) -> str:
    """Numbers drawn at random in the place of a mean accuracy: unreachable if and only if no whole number of
    right answers gives them, by trying all."""
    size, runs = dice.between(1, 400), dice.between(1, 10)
    whole = dice.between(0, 10_000)
    printed = f"{whole // 100}.{whole % 100:02}"
    total, scores = size * runs, (ScoreCounts(kind="share", sizes=(size,)),)
    possible = any(
        abs(Fraction(k, total) - Fraction(whole, 10_000)) <= Fraction(1, 20_000) for k in range(total + 1)
    )
    found = reach.is_reachable(reach.rounding_interval(printed), scores, runs, "mean")
    return "" if found is possible else f"{printed} of {total} is called {'' if found else 'un'}reachable"
