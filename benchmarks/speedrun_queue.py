"""The queue of the PubMed speedrun: which run comes next, given the records.

`speedrun/queue.yaml` says what is run. Everything is decided by the records alone, so that a queue that was
stopped continues anywhere. Loads no torch.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.speedrun_rules import FOLDER, RECORD_SEEDS, SpeedRecord, SpeedRun, best, compared, outcome_of
from pubmill.errors import PubmillError
from pubmill.recipes.reading import build
from pubmill.recipes.recipe_types import StrictRecipe
from pubmill.specs import strict_yaml

QUEUE = FOLDER / "queue.yaml"
Values = dict[str, Any]
Records = Mapping[tuple[str, str], SpeedRecord]
START, BASELINE, COMBINED = "start", "baseline", "combined"


@dataclass(frozen=True, kw_only=True)
class First:
    """A phase before another: its share of the budget, and how it differs."""

    share: float
    change: Values = field(default_factory=dict)
    factors: Values = field(default_factory=dict)


class Candidate(StrictRecipe):
    """Changes of a base: other values of keys, numbers by which values are multiplied, and a phase before."""

    change: Values = field(default_factory=dict)
    factors: Values = field(default_factory=dict)
    first: First | None = None


class SearchRound(StrictRecipe):
    """Candidates that are compared by one seed each. `base`: the division whose best recipe they change, if
    it is another one."""

    name: str
    division: str
    candidates: Values
    base: str | None = None


class Rung(StrictRecipe):
    """A change of a record (of the baseline, unless `against` names another rung)."""

    candidates: Values
    against: str = BASELINE


class SpeedQueue(StrictRecipe):
    """The file."""

    start: Values
    search: list[Any]
    ladder: Values
    combined: Values
    finals: list[Any]
    tasks: Values


class Final(StrictRecipe):
    """Seeds of one of three recipes in a division; `factors` as of a candidate; `against`: DIVISION/NAME."""

    name: Literal["start", "baseline", "combined"]
    division: str
    seeds: list[int]
    factors: Values = field(default_factory=dict)
    against: str | None = None


class Job(NamedTuple):
    """A run to make: `phases` as in `SpeedRecord`."""

    division: str
    name: str
    seed: int
    phases: list[Values]
    against: str | None

    @property
    def key(self) -> str:
        """Return DIVISION/NAME/SEED."""
        return f"{self.division}/{self.name}/{self.seed}"


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


def ready_jobs(queue: SpeedQueue, records: Records) -> list[Job]:
    """Return the first runs of the queue that no record has and that may be made at the same time."""
    for jobs in _rounds(queue, records):
        if undone := [job for job in jobs if not _is_done(job, records)]:
            return undone
    return []


def twin(job: Job, records: Records) -> SpeedRun | None:
    """Return the run of another record that is the same as this job's."""
    for (division, _), record in records.items():
        if division == job.division and record.phases == job.phases:
            return next((run for run in record.runs if run.seed == job.seed), None)
    return None


def _is_done(job: Job, records: Records) -> bool:
    record = records.get((job.division, job.name))
    return record is not None and job.seed in {run.seed for run in record.runs}


def _rounds(queue: SpeedQueue, records: Records) -> Iterator[list[Job]]:
    """Yield the runs of the queue in order, those of a round at once; the records must have them before the
    next round is known."""
    for stage in (_search, _ladder, _combine, _finals):
        yield from stage(queue, records)


def searched(records: Records, division: str) -> dict[str, SpeedRecord]:
    """Return the records of the search in a division."""
    return {
        name: record
        for (where, name), record in records.items()
        if where == division and name.startswith("search.")
    }


def _search(queue: SpeedQueue, records: Records) -> Iterator[list[Job]]:
    earlier: dict[str, list[str]] = {}
    for values in queue.search:
        one = build(SearchRound, values, "search")
        where = one.base or one.division
        known = {name: records[where, name] for name in earlier.get(where, [])}
        base = known[best(known)].phases if known else [{"share": 1.0, "recipe": queue.start}]
        jobs = [
            Job(one.division, f"search.{one.name}.{name}", 1, phases_of(base, candidate), None)
            for name, candidate in candidates_of(one.candidates, one.name).items()
        ]
        earlier.setdefault(one.division, []).extend(job.name for job in jobs)
        yield jobs


def baseline_phases(queue: SpeedQueue, records: Records) -> list[Values]:
    """Return the phases of the baseline: the lowest loss of the search in the ladder's division."""
    known = searched(records, queue.ladder["division"])
    return known[best(known)].phases


def rungs_of(queue: SpeedQueue) -> dict[str, Rung]:
    return {name: build(Rung, one, f"ladder: {name}") for name, one in queue.ladder["rungs"].items()}


def _ladder(queue: SpeedQueue, records: Records) -> Iterator[list[Job]]:
    """Yield the baseline's seeds and one of every rung; then two more of those that one does not decide, and
    of those with which others are compared."""
    division, rungs = queue.ladder["division"], rungs_of(queue)
    known = {BASELINE: baseline_phases(queue, records)}
    jobs = [Job(division, BASELINE, seed, known[BASELINE], None) for seed in queue.ladder["seeds"]]
    for name, rung in rungs.items():
        if rung.against not in known:
            continue  # its trials are not made, or it equals what it would change
        trials = _trials(queue, name, rung, known[rung.against])
        if len(trials) > 1:
            jobs += trials
            tried = {job.name: records[job[:2]] for job in trials if _is_done(job, records)}
            trials = [job for job in trials if len(tried) == len(trials) and job.name == best(tried)]
        for job in trials:
            known[name] = job.phases
            jobs.append(Job(division, name, 1, job.phases, f"{division}/{rung.against}"))
    yield jobs
    yield [
        Job(division, name, seed, record.phases, record.against)
        for name in rungs
        if (record := records.get((division, name))) and (before := compared(record, records))
        if name in {rung.against for rung in rungs.values()}
        or outcome_of(replace(record, runs=record.runs[:1]), before)[0] == "open"
        for seed in range(2, RECORD_SEEDS + 1)
    ]


def _trials(queue: SpeedQueue, name: str, rung: Rung, base: list[Values]) -> list[Job]:
    """Return a run for each candidate of a rung that differs from what it changes."""
    made = {key: phases_of(base, one) for key, one in candidates_of(rung.candidates, name).items()}
    return [
        Job(queue.ladder["trials"], f"{name}.{key}", 1, phases, None)
        for key, phases in made.items()
        if phases != base
    ]


def _better_rungs(queue: SpeedQueue, records: Records) -> dict[str, Candidate]:
    """Return the changes to combine: of the better rungs, by their gain, each after what it changes;
    of those that change the same value only the first."""
    division, rungs = queue.ladder["division"], rungs_of(queue)
    gains = dict[str, float]()
    for name in rungs:
        record = records.get((division, name))
        before = record and compared(record, records)
        if record and before and outcome_of(record, before)[0] == "better":
            gains[name] = before.mean("loss") - record.mean("loss")
    found, changed = dict[str, Candidate](), dict[str, str]()
    for name in sorted(gains, key=lambda name: (rungs[name].against != BASELINE, -gains[name])):
        chosen = _chosen(queue, records, name, rungs[name])
        known = {changed[key] for key in _keys(chosen) if key in changed}
        if rungs[name].against in (BASELINE, *found) and known <= {rungs[name].against}:
            found[name] = chosen
            changed |= dict.fromkeys(_keys(chosen), name)
    return found


def _keys(candidate: Candidate) -> set[str]:
    """Return the keys whose values a candidate replaces, and `first` if it has a phase before."""

    def inner(values: Values, place: str) -> Iterator[str]:
        for key, value in values.items():
            if isinstance(value, dict):
                yield from inner(value, f"{place}{key}.")
            else:
                yield f"{place}{key}"

    return {*inner(candidate.change, ""), *(["first"] if candidate.first else [])}


def _combine(queue: SpeedQueue, records: Records) -> Iterator[list[Job]]:
    """Yield the trials of the combined recipe: the baseline with the best change, with the two best, and so
    on; then rounds of candidates, as in the search, of the lowest loss so far."""
    division = queue.combined["division"]
    lowest = records[queue.ladder["division"], BASELINE]
    jobs, phases = list[Job](), lowest.phases
    for number, (name, candidate) in enumerate(_better_rungs(queue, records).items(), 1):
        phases = phases_of(phases, candidate)
        jobs.append(Job(division, f"combined.{number}-{name}", 1, phases, None))
    yield jobs
    for values in queue.combined["rounds"]:
        lowest = min([lowest, *(records[job[:2]] for job in jobs)], key=_first_loss)
        one = build(SearchRound, {**values, "division": division}, "combined")
        jobs = [
            Job(division, f"combined.{one.name}.{key}", 1, phases_of(lowest.phases, candidate), None)
            for key, candidate in candidates_of(one.candidates, one.name).items()
        ]
        yield jobs


def _first_loss(record: SpeedRecord) -> float:
    return record.runs[0].loss


def _chosen(queue: SpeedQueue, records: Records, name: str, rung: Rung) -> Candidate:
    """Return the candidate of a rung that its trials chose."""
    candidates = candidates_of(rung.candidates, name)
    tried = {key: records.get((queue.ladder["trials"], f"{name}.{key}")) for key in candidates}
    known = {key: record for key, record in tried.items() if record}
    return candidates[best(known) if known else next(iter(candidates))]


def combined_phases(queue: SpeedQueue, records: Records) -> list[Values]:
    """Return the phases of the combined recipe: the lowest loss of its trials and of the baseline's first
    run."""
    known = [
        record
        for (division, name), record in records.items()
        if division == queue.combined["division"] and (name == BASELINE or name.startswith(f"{COMBINED}."))
    ]
    return min(known, key=_first_loss).phases


def _finals(queue: SpeedQueue, records: Records) -> Iterator[list[Job]]:
    phases = {
        COMBINED: combined_phases(queue, records),
        BASELINE: baseline_phases(queue, records),
        START: [{"share": 1.0, "recipe": queue.start}],
    }
    finals = [build(Final, values, "finals") for values in queue.finals]
    yield [
        Job(
            final.division, final.name, seed,
            phases_of(phases[final.name], Candidate(factors=final.factors)), final.against,
        )
        for final in finals
        for seed in final.seeds
    ]  # fmt: skip
