"""All result tables at full scale, as if nothing were missing, for tests and benchmarks."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from statistics import fmean, stdev

from pandas import DataFrame

from pubmill.recipes.reading import as_json, read
from pubmill.recipes.tables import Column, Row, TableRecipe
from pubmill.specs import Specs, load
from pubmill.specs.study import Study
from pubmill.stages import Graph
from pubmill.stages.supplied_predictions import SuppliedPredictions
from pubmill.tables.published_values import NAMES, PrintedAt, places, read_published

SPECS = Path(__file__).resolve().parents[1] / "specs"


@cache
def specs() -> Specs:
    """Load the specs once for all tests, as loading takes longer than most of them."""
    return load(SPECS, "full")


class AllSupplied(SuppliedPredictions):
    """A file of predictions for each dataset that a spec maps labels to."""

    def files(self, model: str) -> dict[str, dict[int, Path]]:
        return {dataset: {1: Path()} for dataset in self.weights(model).mapping}


@cache
def graph(seeds: int = 1) -> Graph:
    """Return the graph of all result tables; `seeds` multiplies the papers' numbers of seeds.

    The study has all weights, every dataset, including those behind an application, and predictions of every
    system that is not fine-tuned.
    """
    known = specs()
    protocols = {}
    for name, protocol in known.protocols.items():
        more = {dataset: seeds * count for dataset, count in protocol.final.seeds.items()}
        final = protocol.final.model_copy(update={"seeds": more})
        protocols[name] = protocol.model_copy(update={"final": final})
    study = Study(study="all", title="All tables", scale="full", tables=tuple(known.tables))
    found = Graph(study, known.model_copy(update={"protocols": protocols}))
    found.availability.dataset = lambda dataset: None  # type: ignore[method-assign]
    found.availability.model = lambda model: None  # type: ignore[method-assign]
    found.supplied = AllSupplied(found)
    return found


def recipe(name: str, seeds: int = 1) -> TableRecipe:
    """Return the recipe of a table, as its program reads it."""
    return read(TableRecipe, as_json(graph(seeds).tables.recipe(name)))


def published(name: str) -> DataFrame:
    """Return the published values of a table; they belong to the caller."""
    return _published(name).copy()


@cache
def _published(name: str) -> DataFrame:
    return read_published(SPECS / f"tables/{name}.published.csv", specs().tables[name].left_out)


@cache
def printed(paper: str) -> dict[PrintedAt, float]:
    """Return all numbers in the result tables of a paper."""
    found: dict[PrintedAt, float] = {}
    for name in sorted(specs().tables):
        if name.startswith(f"{paper}/"):
            found = published(name).dropna(subset="value").set_index(NAMES)["value"].to_dict() | found
    return found


def value_of(paper: str, column: Column, row: Row) -> float | None:
    """Return the number printed for a cell, in this or another table of the paper."""
    names = [*places(column, row), (column.key, row.published, row.printed)]
    return next((printed(paper)[place] for place in names if place in printed(paper)), None)


def around(centre: float, spread: float, runs: int) -> Sequence[float]:
    """Return evenly spaced scores with mean and median `centre` and standard deviation `spread`."""
    steps = [number - (runs - 1) / 2 for number in range(runs)]
    unit = stdev(steps) if runs > 1 else 1.0
    assert abs(fmean(steps)) < 1e-12
    return [centre + spread * step / unit for step in steps]
