"""Operations of a pretraining, and the GPU-hours that they take at the peak of the hardware.

Only matrix products are counted (`pubmill.pretraining.arithmetic`), forward and backward. Recomputation,
padding and all other operations are not, so that a pretraining takes longer than its hours at the peak. The
table also has 6 x parameters x tokens (Kaplan et al. 2020, section 2.1), which has no attention and
counts embeddings as if each token were multiplied with them; parameters that layers share count once a layer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from pubmill.errors import PubmillError
from pubmill.pretraining.arithmetic import (
    NetworkShape,
    Size,
    operations,
    operations_of_batch,
    parameters,
    shape_of,
    share_predicted,
)
from pubmill.recipes.recipe_types import FORBID_UNKNOWN
from pubmill.specs import PretrainingSpec, Specs, strict_yaml
from pubmill.stages.costs import pieces_of

PRINTED = Path(__file__).with_name("printed.yaml")
GPU = "A100"
"""GPU of the hours at the peak where none is printed."""
HEADINGS = [
    "pretraining",
    "tokens",
    "6ND",
    "products",
    "hours at the peak",
    "printed hours",
    "share of the peak",
]


@dataclass(frozen=True, kw_only=True)
class PrintedCost:
    """An entry of printed.yaml, which has the meaning of each field. `hours` are those of all `gpus`."""

    __pydantic_config__ = FORBID_UNKNOWN

    name: str
    source: str
    lengths: tuple[int, int]
    recipe: str | None = None
    network: NetworkShape | None = None
    tokens: float | None = None
    predicted: float = 0.15
    gpu: str = GPU
    gpus: int = 1
    hours: float | None = None


@dataclass(frozen=True)
class Compute:
    """A pretraining: number of `tokens` at most, 6 x parameters x tokens (`simple`), the least and the most
    operations of its products, and printed GPU-hours, if any."""

    name: str
    source: str
    tokens: float
    simple: float
    products: tuple[float, float]
    gpu: str
    hours: float | None

    def hours_at(self, peak: float) -> tuple[float, float]:
        """Return the least and the most GPU-hours at a peak of `peak` operations a second."""
        least, most = self.products
        return least / peak / 3600, most / peak / 3600


def printed_costs(path: Path = PRINTED) -> list[PrintedCost]:
    """Read the entries; raise a `PubmillError` for a wrong one."""
    errors: list[str] = []
    content = strict_yaml.read(path, path.name, errors).value
    if errors:
        raise PubmillError("\n".join(errors))
    try:
        return TypeAdapter(list[PrintedCost]).validate_python(content["pretrainings"])
    except (KeyError, ValidationError) as error:
        raise PubmillError(f"{path.name}: {error}") from None


def all_compute(specs: Specs, printed: list[PrintedCost]) -> Iterator[Compute]:
    """Return the pretraining of each entry, and then of each recipe of a paper without an entry."""
    for one in printed:
        yield _of_recipe(one, specs) if one.recipe else _of_network(one)
    described = {one.recipe for one in printed}
    for name, spec in sorted(specs.pretraining.items()):
        if spec.paper and name not in described:
            length = spec.recipe.sequence_length
            source = f"{spec.citation}; prints no hours"
            one = PrintedCost(name=spec.label, source=source, lengths=(length, length), recipe=name)
            yield _of_recipe(one, specs)


def _of_recipe(one: PrintedCost, specs: Specs) -> Compute:
    """Return the cost of a recipe's own steps, not those of a recipe that it continues or of a teacher, with
    all sequences of the shortest and of the longest length."""
    if one.recipe not in specs.pretraining:
        raise PubmillError(f"{PRINTED.name}: no recipe {one.recipe} in specs/pretraining")
    spec: PretrainingSpec = specs.pretraining[one.recipe]
    recipe, pieces = spec.recipe, pieces_of(specs, spec.vocab)
    steps = recipe.steps - (spec.start.step if spec.start and spec.start.step else 0)
    least, most = (
        steps
        * operations_of_batch(recipe, pieces, Size(tokens, tokens * length, tokens * share_predicted(recipe)))
        for length in one.lengths
        for tokens in [float(recipe.batch_size * length)]
    )
    tokens = float(steps * recipe.batch_size * one.lengths[1])
    return _compute(one, shape_of(recipe.architecture, pieces), tokens, (least, most))


def _of_network(one: PrintedCost) -> Compute:
    if one.network is None or one.tokens is None:
        raise PubmillError(f"{PRINTED.name}, {one.name}: expected a recipe, or network and tokens")
    shape, n = one.network, one.tokens
    least, most = (operations(shape, n, n * length, n * one.predicted) for length in one.lengths)
    return _compute(one, shape, n, (least, most))


def _compute(one: PrintedCost, shape: NetworkShape, tokens: float, products: tuple[float, float]) -> Compute:
    hours = None if one.hours is None else one.hours * one.gpus
    simple = 6 * parameters(replace(shape, shared=False)) * tokens
    return Compute(one.name, one.source, tokens, simple, products, one.gpu, hours)


def typed_compute(
    count: float, tokens: float, attended: tuple[int, int, int] | None, gpu: str, hours: float | None
) -> Compute:
    """Return the cost of a model of `count` parameters by 6 x parameters x tokens. `attended`: layers, hidden
    size and sequence length, with which attention over whole sequences is added as the most that it may
    cost."""
    simple = 6 * count * tokens
    layers, hidden, length = attended or (0, 0, 0)
    attention = 12.0 * layers * hidden * length * tokens
    return Compute("as typed", "", tokens, simple, (simple, simple + attention), gpu, hours)


def as_rows(pretrainings: list[Compute], peaks: Mapping[str, float]) -> list[list[str]]:
    """Return the rows of a table, its head first; a `PubmillError` for a GPU without a peak. `peaks`: GPU ->
    operations a second."""
    return [HEADINGS, *(_row(one, peaks) for one in pretrainings)]


def _row(one: Compute, peaks: Mapping[str, float]) -> list[str]:
    if one.gpu not in peaks:
        raise PubmillError(f"no peak of a GPU {one.gpu} in specs/gpus.yaml, which has {', '.join(peaks)}")
    hours = one.hours_at(peaks[one.gpu])
    share = "–" if one.hours is None else _between(*(f"{each / one.hours:.0%}" for each in hours))
    return [
        one.name,
        f"{one.tokens / 1e9:,.0f} B",
        f"{one.simple:.1e}",
        _between(*(f"{each:.1e}" for each in one.products)),
        f"{_between(*(f'{each:,.1f}' for each in hours))} {one.gpu}",
        "–" if one.hours is None else f"{one.hours:,.1f}",
        share,
    ]


def _between(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"


def json_of(pretrainings: list[Compute], peaks: Mapping[str, float]) -> list[dict[str, object]]:
    """Return the pretrainings as JSON values; `peaks`: GPU -> operations a second."""
    return [
        {
            "name": one.name,
            "source": one.source,
            "tokens": one.tokens,
            "6nd": one.simple,
            "products": one.products,
            "gpu": one.gpu,
            "gpu_hours_at_peak": one.hours_at(peaks[one.gpu]),
            "printed_gpu_hours": one.hours,
        }
        for one in pretrainings
    ]
