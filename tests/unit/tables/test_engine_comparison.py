"""Columns that are engines of one prompted model."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

from pubmill.errors import PubmillError
from pubmill.tables.engine_comparison import engine_lines, engine_variance
from tests.unit import toy_tables as made_up


def test_each_row_states_the_variance_between_engines(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    table = made_up.table(tmp_path)
    (line,) = engine_lines(table, {"ours": "ours", "bert": "ours"})
    scores = {
        column.key: [seed.value for seed in table.cells[column.key]["bc2gm"].seeds]
        for column in table.columns
    }
    assert all(len(of_column) == 2 for of_column in scores.values())
    gap = abs(sum(scores["ours"]) - sum(scores["bert"])) / 2  # type: ignore[arg-type]
    assert line.startswith("ours, bc2gm: standard deviation between 2 engines ")
    assert float(line.split("engines ")[1].split(" points")[0]) <= gap / 2**0.5 + 0.01


def test_columns_of_different_models_have_no_engines(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    table = made_up.table(tmp_path)
    assert not list(engine_lines(table, {}))
    assert not list(engine_lines(table, {"ours": "ours", "bert": "bert"}))


@pytest.mark.parametrize(("engines", "runs", "between"), [(3, 4, 2.0), (5, 3, 0.5), (4, 2, 0.0)])
def test_the_interval_covers_the_truth(engines: int, runs: int, between: float) -> None:
    """In at least 95 % of simulated studies, but for chance (five standard errors)."""
    generator, draws = np.random.default_rng(1), 2000
    covered = 0
    for _ in range(draws):
        centres = 60 + between * generator.standard_normal(engines)
        scores = centres[:, None] + generator.standard_normal((engines, runs))
        low, high = engine_variance(scores.tolist()).interval
        covered += low - 1e-9 <= between <= high + 1e-9
    assert covered / draws > 0.95 - 5 * math.sqrt(0.95 * 0.05 / draws)


def test_the_estimate_is_that_of_the_analysis_of_variance() -> None:
    """Means 10, 12, 17: mean square between 26 with 2 runs each, within 2: (26 - 2) / 2 = 12."""
    found = engine_variance([[9, 11], [11, 13], [16, 18]])
    assert found.between == pytest.approx(math.sqrt(12)) and found.within == pytest.approx(math.sqrt(2))
    assert found.interval[0] < found.between < found.interval[1]


def test_with_one_run_each_it_is_the_interval_of_a_standard_deviation() -> None:
    found = engine_variance([[60.0], [62.0], [67.0]])
    squares = 26.0
    assert found.within is None and found.between == pytest.approx(math.sqrt(squares / 2))
    expected = [math.sqrt(squares / chi2.ppf(share, 2)) for share in (0.975, 0.025)]
    assert found.interval == pytest.approx(expected)


def test_equal_runs_have_none() -> None:
    assert engine_variance([[50, 50], [50, 50]]) == (0, (0, 0), 0)


def test_unequal_numbers_of_runs_go_too() -> None:
    assert engine_variance([[50, 52, 51], [60]]).between > 5


@pytest.mark.parametrize("runs", [[[1.0]], [[1.0], []]])
def test_one_engine_has_no_variance_between(runs: list[list[float]]) -> None:
    with pytest.raises(PubmillError, match="at least two"):
        engine_variance(runs)
