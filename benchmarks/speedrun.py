"""The PubMed speedrun: make runs, check records, and write their page (docs/speedrun.md has the rules).

    .venv/bin/python benchmarks/speedrun.py queue --results RESULTS --folder FOLDER [--most 1] [--processes 2]
    .venv/bin/python benchmarks/speedrun.py repeat RECORD --seed 1 --results RESULTS --folder FOLDER
    .venv/bin/python benchmarks/speedrun.py check [FILE]
    .venv/bin/python benchmarks/speedrun.py page [--write]

`queue` makes the next runs of speedrun/queue.yaml and adds them to speedrun/records.jsonl.gz; `repeat`
makes a run of a record (DIVISION/NAME) again, on another machine perhaps, and adds it there. `tasks`
fine-tunes the models whose saves are in FOLDER and writes the scores to speedrun/tasks.json. RESULTS are
those of `pubmill run speedrun`. Whatever stops the program, the same command continues, from the last save.
A process has one thread unless OMP_NUM_THREADS says otherwise, and a GPU if there is one.
`check` tests a file of records by the rules. `page` compares the figures and the tables of docs/speedrun.md
with the records.
"""

import argparse
import os
import sys
import time
from collections.abc import Container
from dataclasses import replace
from functools import partial
from pathlib import Path

# replaces this folder, whose datasets.py would hide the library
sys.path[0] = str(Path(__file__).resolve().parents[1])
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

from benchmarks.speedrun_page import check_page
from benchmarks.speedrun_processes import Processes
from benchmarks.speedrun_queue import Job, Records, SpeedQueue, read_queue, ready_jobs, twin
from benchmarks.speedrun_rules import RECORDS, SpeedRecord, SpeedRun, add_run, budget, read_records
from pubmill.errors import PubmillError, run
from pubmill.recipes.reading import as_values, build
from pubmill.storage.files import read_json, write_json

SAVE_MINUTES = 3.0
MADE = "run.json"
"""The file, beside its saves, of what a run gave."""


def make_job(job: Job, results: Path, saves: Path) -> None:
    """Make a run and write it; if it is asked to stop it saves itself, and the same call continues."""
    from benchmarks.speedrun_runs import execute, fixed_text

    made = execute(job.phases, job.division, job.seed, fixed_text(results), saves, SAVE_MINUTES)
    write_json(saves / MADE, as_values(made))


def work_through(results: Path, folder: Path, most: int | None, processes: int) -> None:
    """Make the next runs of the queue, at most so many, several at once; FOLDER/progress.txt says what was
    done."""
    import benchmarks.speedrun_runs  # noqa: F401  # once, for all processes

    queue, begun = read_queue(), dict[str, Job]()
    with Processes() as several:
        while True:
            free = processes - len(several.running)
            for job in _waiting(queue, several.running)[
                : free if most is None else min(free, most - len(begun))
            ]:
                record_of(job, read_records())
                _note(folder, f"begins {job.key}")
                several.begin(job.key, partial(make_job, job, results, folder / job.key))
                begun[job.key] = job
            if not several.running:
                break
            _add(begun[several.next_to_end()], folder)
    if not ready_jobs(queue, read_records()):
        _note(folder, "the queue is done")


def _add(job: Job, folder: Path) -> None:
    """Add a run that has been made to its record."""
    made = build(SpeedRun, read_json(folder / job.key / MADE), job.key)
    add_run(record_of(job, read_records()), made)
    _note(folder, f"{job.key}: loss {made.loss:.4f}, {made.seconds:.0f} s")


def _waiting(queue: SpeedQueue, running: Container[str]) -> list[Job]:
    """Return the runs that may begin, the longest first; those that another record has already are taken from
    it."""
    while True:
        records = read_records()
        jobs = [job for job in ready_jobs(queue, records) if job.key not in running]
        known = [(job, made) for job in jobs if (made := twin(job, records))]
        if not known:
            return sorted(jobs, key=lambda job: -budget(job.division))
        for job, made in known:
            add_run(record_of(job, read_records()), made)


def record_of(job: Job, records: Records) -> SpeedRecord:
    """Return the record to which a job's run belongs."""
    found = records.get((job.division, job.name)) or SpeedRecord(
        name=job.name, division=job.division, phases=job.phases, against=job.against, runs=[]
    )
    if found.phases != job.phases:
        raise PubmillError(
            f"{job.division}/{job.name} has another recipe than the queue: rename the rung, or delete "
            "the record"
        )
    return found


def tasks(results: Path, folder: Path, processes: int) -> None:
    """Fine-tune the models of the queue that are not in the file of task scores yet, several at once."""
    from benchmarks import speedrun_tasks

    missing = speedrun_tasks.missing(read_queue(), read_records())
    wanted = [one for one in missing if speedrun_tasks.possible(one.model, folder)]
    _note(folder, f"{len(wanted)} fine-tunings; {len(missing) - len(wanted)} more lack their models' saves")
    models = {one.model.key: one.model for one in wanted}
    with Processes() as several:
        for steps in (
            {
                key: partial(speedrun_tasks.export_model, model, results, folder)
                for key, model in models.items()
            },
            {one.key: partial(speedrun_tasks.fine_tune, one, results, folder) for one in wanted},
        ):
            left = list(steps.items())
            while left or several.running:
                while left and len(several.running) < processes:
                    several.begin(*left.pop(0))
                ready = several.next_to_end()
                _note(folder, f"{ready} is ready")
                speedrun_tasks.add_scores(
                    [speedrun_tasks.read_score(one, folder) for one in wanted if one.key == ready]
                )


def _note(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "progress.txt").open("a", encoding="utf-8") as file:
        file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")
    print(text, flush=True)


def repeat(name: str, seed: int, results: Path, folder: Path) -> None:
    """Make a run of a record again, add it to the repeats, and print both losses."""
    from benchmarks.speedrun_runs import execute, fixed_text

    division, _, short = name.partition("/")
    record = read_records().get((division, short))
    if record is None:
        raise PubmillError(
            f"{name} is no record of {RECORDS}; expected DIVISION/NAME, as 15-minutes/combined"
        )
    again = folder / "repeated" / record.division / record.name / str(seed)
    made = execute(record.phases, record.division, seed, fixed_text(results), again, SAVE_MINUTES)
    known = read_records(repeats=True).get((division, short)) or replace(record, runs=[], repeat=True)
    add_run(known, made)
    losses = ", ".join(f"seed {one.seed}: {one.loss:.4f}" for one in record.runs)
    print(
        f"{name}, seed {seed}: loss {made.loss:.4f}, {made.processor_seconds:.0f} processor seconds; "
        f"the record has {losses}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    places = argparse.ArgumentParser(add_help=False)
    places.add_argument("--results", type=Path, required=True, help="results of `pubmill run speedrun`")
    places.add_argument("--folder", type=Path, required=True, help="for saves and progress.txt")
    queue = verbs.add_parser("queue", parents=[places])
    queue.add_argument("--most", type=int, help="number of runs (default: all)")
    queue.add_argument("--processes", type=int, default=1, help="runs at the same time (default: 1)")
    tuned = verbs.add_parser("tasks", parents=[places])
    tuned.add_argument("--processes", type=int, default=1, help="runs at the same time (default: 1)")
    again = verbs.add_parser("repeat", parents=[places])
    again.add_argument("record", help="DIVISION/NAME")
    again.add_argument("--seed", type=int, default=1)
    check = verbs.add_parser("check")
    check.add_argument("records", type=Path, nargs="?", default=RECORDS)
    page = verbs.add_parser("page")
    page.add_argument("--write", action="store_true", help="write what differs")
    given = parser.parse_args()
    if given.verb == "queue":
        work_through(given.results, given.folder, given.most, given.processes)
    elif given.verb == "tasks":
        tasks(given.results, given.folder, given.processes)
    elif given.verb == "repeat":
        repeat(given.record, given.seed, given.results, given.folder)
    elif given.verb == "check":
        print(f"{len(read_records(given.records))} records keep the rules")
    else:
        check_page(given.write)


if __name__ == "__main__":
    run(main)
