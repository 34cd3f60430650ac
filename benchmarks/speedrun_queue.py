"""The queue of the PubMed speedrun: which run comes next, given the records.

`speedrun/queue.yaml` says what is run. Everything is decided by the records alone, so that a queue that was
stopped continues anywhere. Loads no torch.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.speedrun_rules import FOLDER, RECORD_SEEDS, SpeedRecord, SpeedRun, best, compared, verdict
from pubmill.errors import PubmillError
from pubmill.recipes.reading import build
from pubmill.specs import strict_yaml

QUEUE = FOLDER / "queue.yaml"
Values = dict[str, Any]
Records = Mapping[tuple[str, str], SpeedRecord]
BASELINE, COMBINED = "baseline", "combined"


@dataclass(frozen=True, kw_only=True)
class First:
    """A phase before another: its share of the budget, and how it differs."""

    share: float
    change: Values = field(default_factory=dict)
    factors: Values = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Changes of a base: other values of keys, numbers by which values are multiplied, and a phase before."""

    change: Values = field(default_factory=dict)
    factors: Values = field(default_factory=dict)
    first: First | None = None


@dataclass(frozen=True, kw_only=True)
class SearchRound:
    """Candidates that are compared by one seed each. `base`: the division whose best recipe they change, if
    it is another one."""

    name: str
    division: str
    candidates: Values
    base: str | None = None


@dataclass(frozen=True, kw_only=True)
class Rung:
    """A change of a record (of the baseline, unless `against` names another rung)."""

    candidates: Values
    against: str = BASELINE


@dataclass(frozen=True, kw_only=True)
class SpeedQueue:
    """The file."""

    start: Values
    search: list[Any]
    baseline: Values
    ladder: Values
    combined: list[str] | None
    finals: list[Any]


@dataclass(frozen=True, kw_only=True)
class Final:
    """Seeds of the baseline or of the combined recipe in a division; `against`: DIVISION/NAME."""

    name: Literal["baseline", "combined"]
    division: str
    seeds: list[int]
    against: str | None = None


class Job(NamedTuple):
    """A run to make: `phases` as in `SpeedRecord`."""

    division: str
    name: str
    seed: int
    phases: list[Values]
    against: str | None


def read_queue(path: Path = QUEUE) -> SpeedQueue:
    faults: list[str] = []
    document = strict_yaml.read(path, str(path), faults)
    if faults:
        raise PubmillError("\n".join(faults))
    return build(SpeedQueue, document.value, str(path))


def merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> Values:
    """Return values with changes; those of a mapping change its keys."""
    found = dict(values)
    for key, change in changes.items():
        old = found.get(key)
        found[key] = merged(old, change) if isinstance(old, dict) and isinstance(change, dict) else change
    return found


def multiplied(values: Mapping[str, Any], factors: Mapping[str, float]) -> Values:
    """Return values with the numbers of some keys, at any depth, multiplied; integers stay integers."""

    def one(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return multiplied(value, factors)
        if key not in factors:
            return value
        found = value * factors[key]
        return round(found) if isinstance(value, int) else float(f"{found:.4g}")

    return {key: one(key, value) for key, value in values.items()}


def phases_of(base: list[Values], candidate: Candidate) -> list[Values]:
    """Return the phases of a base with a candidate's changes in each."""
    made = [
        phase | {"recipe": multiplied(merged(phase["recipe"], candidate.change), candidate.factors)}
        for phase in base
    ]
    if candidate.first is None:
        return made
    share, last = candidate.first.share, base[-1]
    before = multiplied(merged(last["recipe"], candidate.first.change), candidate.first.factors)
    return [{"share": share, "recipe": before}, made[-1] | {"share": 1 - share}]


def candidates_of(values: Values, where: str) -> dict[str, Candidate]:
    return {name: build(Candidate, one or {}, f"{where}: {name}") for name, one in values.items()}


def next_job(queue: SpeedQueue, records: Records) -> Job | None:
    """Return the first run of the queue that no record has."""
    return next((job for job in jobs(queue, records) if not _is_done(job, records)), None)


def twin(job: Job, records: Records) -> SpeedRun | None:
    """Return the run of another record that is the same as this job's."""
    for (division, _), record in records.items():
        if division == job.division and record.phases == job.phases:
            return next((run for run in record.runs if run.seed == job.seed), None)
    return None


def _is_done(job: Job, records: Records) -> bool:
    record = records.get((job.division, job.name))
    return record is not None and job.seed in {run.seed for run in record.runs}


def jobs(queue: SpeedQueue, records: Records) -> Iterator[Job]:
    """Yield the runs of the queue in order, up to where one must be made before the next are known."""
    for stage in (_search, _baseline, _ladder, _finals):
        for job in stage(queue, records):
            yield job
            if not _is_done(job, records):
                return


def searched(records: Records, division: str) -> dict[str, SpeedRecord]:
    """Return the records of the search in a division."""
    return {
        name: record
        for (where, name), record in records.items()
        if where == division and name.startswith("search.")
    }


def _search(queue: SpeedQueue, records: Records) -> Iterator[Job]:
    earlier: dict[str, list[str]] = {}
    for values in queue.search:
        one = build(SearchRound, values, "search")
        where = one.base or one.division
        known = {name: records[where, name] for name in earlier.get(where, [])}
        base = known[best(known)].phases if known else [{"share": 1.0, "recipe": queue.start}]
        for name, candidate in candidates_of(one.candidates, one.name).items():
            job = Job(one.division, f"search.{one.name}.{name}", 1, phases_of(base, candidate), None)
            earlier.setdefault(one.division, []).append(job.name)
            yield job


def baseline_phases(queue: SpeedQueue, records: Records) -> list[Values]:
    """Return the phases of the baseline: the lowest loss of the search in its division."""
    known = searched(records, queue.baseline["division"])
    return known[best(known)].phases


def _baseline(queue: SpeedQueue, records: Records) -> Iterator[Job]:
    phases = baseline_phases(queue, records)
    for seed in queue.baseline["seeds"]:
        yield Job(queue.baseline["division"], BASELINE, seed, phases, None)


def rungs_of(queue: SpeedQueue) -> dict[str, Rung]:
    return {name: build(Rung, one, f"ladder: {name}") for name, one in queue.ladder["rungs"].items()}


def _ladder(queue: SpeedQueue, records: Records) -> Iterator[Job]:
    """Yield one seed of every rung, then more seeds of those that one does not decide."""
    division, rungs = queue.ladder["division"], rungs_of(queue)
    for name, rung in rungs.items():
        yield from _rung(queue, records, name, rung)
    for seed in range(2, RECORD_SEEDS + 1):
        for name in rungs:
            record = records.get((division, name))
            before = record and compared(record, records)
            if record and before and (len(record.runs) >= seed or verdict(record, before)[0] == "open"):
                yield Job(division, name, seed, record.phases, record.against)


def _rung(queue: SpeedQueue, records: Records, name: str, rung: Rung) -> Iterator[Job]:
    division, trials = queue.ladder["division"], queue.ladder["trials"]
    base = records[division, rung.against].phases if (division, rung.against) in records else None
    if base is None:  # it equals what it would change
        return
    made = {key: phases_of(base, one) for key, one in candidates_of(rung.candidates, name).items()}
    made = {key: phases for key, phases in made.items() if phases != base}
    if len(made) > 1:
        tried = [Job(trials, f"{name}.{key}", 1, phases, None) for key, phases in made.items()]
        yield from tried
        known = {job.name: records[trials, job.name] for job in tried}
        made = {name: known[best(known)].phases}
    for phases in made.values():
        yield Job(division, name, 1, phases, f"{division}/{rung.against}")


def combined_phases(queue: SpeedQueue, records: Records) -> list[Values] | None:
    """Return the baseline with the changes of the chosen rungs, one after another."""
    if not queue.combined:
        return None
    rungs, phases = rungs_of(queue), baseline_phases(queue, records)
    for name in queue.combined:
        candidates = candidates_of(rungs[name].candidates, name)
        tried = {key: records.get((queue.ladder["trials"], f"{name}.{key}")) for key in candidates}
        known = {key: record for key, record in tried.items() if record}
        phases = phases_of(phases, candidates[best(known) if known else next(iter(candidates))])
    return phases


def _finals(queue: SpeedQueue, records: Records) -> Iterator[Job]:
    phases = {COMBINED: combined_phases(queue, records), BASELINE: baseline_phases(queue, records)}
    if phases[COMBINED] is None:
        return
    for values in queue.finals:
        final = build(Final, values, "finals")
        for seed in final.seeds:
            yield Job(final.division, final.name, seed, phases[final.name] or [], final.against)
