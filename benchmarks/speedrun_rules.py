"""Rules of the PubMed speedrun (docs/speedrun.md): budgets, records, and when one is better than another.

Loads no torch. All records are one file, `speedrun/records.jsonl.gz`, with a record in each line.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from scipy import stats

from pubmill.errors import PubmillError
from pubmill.recipes.reading import as_values, build
from pubmill.recipes.recipe_types import StrictRecipe
from pubmill.storage.files import read_jsonl_gz, write_jsonl_gz

FOLDER = Path(__file__).resolve().parent / "speedrun"
RECORDS = FOLDER / "records.jsonl.gz"
DIVISIONS = {
    "1-minute": 1.0, "5-minutes": 5.0, "7.5-minutes": 7.5, "15-minutes": 15.0,
    "60-minutes": 60.0, "90-minutes": 90.0,
}  # fmt: skip
"""Division -> minutes on two cores."""
OPERATIONS_PER_MINUTE = 120 * 80e9
"""Of a minute on two cores; docs/speedrun.md has the measurement."""
TEXT = {
    "tokens": "2971597b20c2c9f885f4ce587a1715f4f0c3f9c265877ae1ed26f495d3855b7d",
    "held_out": "61559c71a85b33f4be4f7728c9b45acd264c872afad518fbac423db3735bcee0",
    "vocab": "dfad35c06c9234e1fa1d5585963a65cd743d0088b597d4861cd588bc97c73900",
}
"""SHA-256 of the fixed text, see `SpeedRun`."""
OVER_BUDGET = 0.01
"""Share by which a run may exceed its budget: more tokens than expected may be masked."""
LEVEL = 0.01
RECORD_SEEDS = 3


class SpeedRun(StrictRecipe):
    """A finished run.

    - `loss`: mean loss of the masked held-out tokens.
    - `curve`: operations so far and training loss, in order.
    - `recipe`: each phase's recipe, as resolved.
    - `text`: SHA-256 of the packed tokens, of the held-out ones and of the vocabulary.
    - `diverged`: the error that ended it; its loss is then that of a model that knows nothing.
    """

    seed: int
    loss: float
    operations: float
    processor_seconds: float
    seconds: float
    tokens: int
    steps: int
    curve: list[list[float]]
    recipe: list[dict[str, Any]]
    machine: dict[str, Any]
    packages: dict[str, Any]
    commit: str | None
    text: dict[str, str]
    diverged: str | None = None


class SpeedRecord(StrictRecipe):
    """Runs of one recipe that differ by their seed only.

    - `phases`: the share of the budget of each phase, and its recipe without steps and seed.
    - `against`: DIVISION/NAME of the record it is compared with.
    - `repeat`: its runs are those of the record of this name, made again on another machine.
    """

    name: str
    division: str
    phases: list[dict[str, Any]]
    against: str | None = None
    repeat: bool = False
    runs: list[SpeedRun]

    @property
    def losses(self) -> list[float]:
        return [run.loss for run in self.runs]

    def mean(self, what: str) -> float:
        """Return the mean of a number over the seeds."""
        return fmean(getattr(run, what) for run in self.runs)


Records = dict[tuple[str, str], SpeedRecord]
"""Records by division and name."""


def read_records(path: Path = RECORDS, repeats: bool = False) -> Records:
    """Return the records of a file, or the repeats of their runs, by division and name, checked by the rules;
    a `PubmillError` names file, record and every fault."""
    found, faults = dict[tuple[str, str], SpeedRecord](), list[str]()
    for number, values in enumerate(read_jsonl_gz(path), 1):
        record = build(SpeedRecord, values, f"{path}:{number}")
        faults += [f"{path}: {record.division}/{record.name}: {fault}" for fault in faults_of(record)]
        if record.repeat == repeats:
            found[record.division, record.name] = record
    if faults:
        raise PubmillError("\n".join(faults))
    return found


def add_run(record: SpeedRecord, run: SpeedRun, path: Path = RECORDS) -> SpeedRecord:
    """Write a record with one more run; return it."""
    runs = sorted([*(old for old in record.runs if old.seed != run.seed), run], key=lambda one: one.seed)
    place, known = (record.division, record.name), {True: Records(), False: Records()}
    if path.is_file():
        known = {repeats: read_records(path, repeats) for repeats in known}
    known[record.repeat][place] = added = replace(record, runs=runs)
    write_records(path, [one for some in known.values() for one in some.values()])
    return added


def write_records(path: Path, records: Iterable[SpeedRecord]) -> None:
    """Write a file of records, in the order of their names."""
    ordered = sorted(records, key=lambda one: (one.repeat, one.division, one.name))
    write_jsonl_gz(path, map(as_values, ordered))


def budget(division: str) -> float:
    """Return the operations of a division."""
    return DIVISIONS[division] * OPERATIONS_PER_MINUTE


def faults_of(record: SpeedRecord) -> Iterable[str]:
    """Yield what breaks the rules in a record."""
    if record.division not in DIVISIONS:
        yield f"unknown division {record.division}; expected one of {', '.join(DIVISIONS)}"
        return
    if not record.runs or len({run.seed for run in record.runs}) < len(record.runs):
        yield "it needs runs, each with a seed of its own"
    allowed = budget(record.division)
    for run in record.runs:
        if run.operations > allowed * (1 + OVER_BUDGET):
            yield f"seed {run.seed}: {run.operations:.4g} operations, the budget is {allowed:.4g}"
        if not math.isfinite(run.loss) or run.loss <= 0:
            yield f"seed {run.seed}: the loss is {run.loss}"
        if run.text != TEXT:
            yield f"seed {run.seed}: another text than that of the rules"
        if [one | {"seed": run.seed} for one in run.recipe] != run.recipe:
            yield f"seed {run.seed}: the recipe has another seed"
        if _common_recipe(run) != _common_recipe(record.runs[0]):
            yield f"seed {run.seed}: another recipe than seed {record.runs[0].seed}"
        if run.curve and (run.curve != sorted(run.curve, key=lambda point: point[0])):
            yield f"seed {run.seed}: the curve is not in order"


def _common_recipe(run: SpeedRun) -> list[dict[str, Any]]:
    """Return the recipe without what differs by seed: as batches differ, so does the number of steps."""
    return [{key: value for key, value in one.items() if key not in ("seed", "steps")} for one in run.recipe]


def p_value(ours: Sequence[float], before: Sequence[float]) -> float | None:
    """Return the one-sided p value of Student's test that our losses are lower, with one variance for both;
    None with fewer than three losses in all, or without any spread.

    One loss beside three is enough for a large difference: its variance is taken to be that of the others.
    """
    freedom = len(ours) + len(before) - 2
    squares = sum(sum((value - fmean(some)) ** 2 for value in some) for some in (ours, before))
    if freedom < 1 or squares == 0:
        return None
    error = math.sqrt(squares / freedom * (1 / len(ours) + 1 / len(before)))
    return float(stats.t.sf((fmean(before) - fmean(ours)) / error, freedom))


def outcome_of(record: SpeedRecord, before: SpeedRecord) -> tuple[str, float | None]:
    """Return better, worse, open or no difference shown, and the p value of the nearer side.

    `open`: fewer than three seeds do not decide. `no difference shown`: three seeds do not.
    """
    lower = p_value(record.losses, before.losses)
    if lower is None:
        return "open", None
    higher = 1 - lower
    if min(lower, higher) < LEVEL:
        return ("better" if lower < LEVEL else "worse"), min(lower, higher)
    seeds = min(len(record.runs), len(before.runs))
    return ("open" if seeds < RECORD_SEEDS else "no difference shown"), min(lower, higher)


def compared(record: SpeedRecord, records: Mapping[tuple[str, str], SpeedRecord]) -> SpeedRecord | None:
    """Return the record that a record is compared with, if it is made."""
    division, _, name = (record.against or "/").partition("/")
    return records.get((division, name))


def best(records: Mapping[str, SpeedRecord]) -> str:
    """Return the name of the record with the lowest mean loss."""
    return min(records, key=lambda name: records[name].mean("loss"))
