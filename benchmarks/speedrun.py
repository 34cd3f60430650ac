"""The PubMed speedrun: make runs, check records, and write their page (docs/speedrun.md has the rules).

    .venv/bin/python benchmarks/speedrun.py queue --results RESULTS --folder FOLDER [--most 1]
    .venv/bin/python benchmarks/speedrun.py repeat RECORD --seed 1 --results RESULTS --folder FOLDER
    .venv/bin/python benchmarks/speedrun.py check [RECORD ...]
    .venv/bin/python benchmarks/speedrun.py page [--write]

`queue` makes the next runs of speedrun/queue.yaml and writes them to speedrun/records; `repeat` makes a run
of a record again and compares the loss. RESULTS are those of `pubmill run speedrun`, FOLDER is for saves:
whatever stops the program, the same command continues, from the last save. It uses one thread unless
OMP_NUM_THREADS says otherwise.
`check` tests records by the rules. `page` compares the generated parts of docs/speedrun.md with the records.
"""

import argparse
import os
import sys
import time
from pathlib import Path

# replaces this folder, whose datasets.py would hide the library
sys.path[0] = str(Path(__file__).resolve().parents[1])
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

from benchmarks.speedrun_page import check_page
from benchmarks.speedrun_queue import Job, next_job, read_queue, twin
from benchmarks.speedrun_rules import (
    SpeedRecord,
    add_run,
    read_record,
    read_records,
)
from pubmill.errors import PubmillError, run

SAVE_MINUTES = 3.0


def make_job(job: Job, results: Path, folder: Path) -> SpeedRecord:
    """Make a run, or take it from a record that has the same; add it to its record."""
    from benchmarks.speedrun_runs import execute, fixed_text

    records = read_records()
    found = records.get((job.division, job.name))
    record = found or SpeedRecord(
        name=job.name, division=job.division, phases=job.phases, against=job.against, runs=[]
    )
    if record.phases != job.phases:
        raise PubmillError(
            f"{job.division}/{job.name} has another recipe than the queue: rename the rung, or delete "
            "the record"
        )
    saves = folder / job.division / job.name / str(job.seed)
    made = twin(job, records) or execute(
        job.phases, job.division, job.seed, fixed_text(results), saves, SAVE_MINUTES
    )
    return add_run(record, made)


def work_through(results: Path, folder: Path, most: int | None) -> None:
    """Make the next runs of the queue, at most so many; FOLDER/progress.txt says what was done."""
    queue, count = read_queue(), 0
    while (job := next_job(queue, read_records())) and count != most:
        _note(folder, f"begins {job.division}/{job.name}, seed {job.seed}")
        record = make_job(job, results, folder)
        loss = next(one.loss for one in record.runs if one.seed == job.seed)
        _note(folder, f"{job.division}/{job.name}, seed {job.seed}: loss {loss:.4f}")
        count += 1
    if job is None:
        _note(folder, "the queue is done")


def _note(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "progress.txt").open("a", encoding="utf-8") as file:
        file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")
    print(text, flush=True)


def repeat(path: Path, seed: int, results: Path, folder: Path) -> None:
    """Make a run of a record again, and print both losses."""
    from benchmarks.speedrun_runs import execute, fixed_text

    record = read_record(path)
    again = folder / "repeated" / record.division / record.name / str(seed)
    made = execute(record.phases, record.division, seed, fixed_text(results), again, SAVE_MINUTES)
    losses = ", ".join(f"seed {one.seed}: {one.loss:.4f}" for one in record.runs)
    print(f"{record.division}/{record.name}, seed {seed}: loss {made.loss:.4f}; the record has {losses}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    places = argparse.ArgumentParser(add_help=False)
    places.add_argument("--results", type=Path, required=True, help="results of `pubmill run speedrun`")
    places.add_argument("--folder", type=Path, required=True, help="for saves and progress.txt")
    queue = verbs.add_parser("queue", parents=[places])
    queue.add_argument("--most", type=int, help="number of runs (default: all)")
    again = verbs.add_parser("repeat", parents=[places])
    again.add_argument("record", type=Path)
    again.add_argument("--seed", type=int, default=1)
    check = verbs.add_parser("check")
    check.add_argument("records", type=Path, nargs="*")
    page = verbs.add_parser("page")
    page.add_argument("--write", action="store_true", help="write what differs")
    given = parser.parse_args()
    if given.verb == "queue":
        work_through(given.results, given.folder, given.most)
    elif given.verb == "repeat":
        repeat(given.record, given.seed, given.results, given.folder)
    elif given.verb == "check":
        checked = [read_record(path) for path in given.records] or list(read_records().values())
        print(f"{len(checked)} records keep the rules")
    else:
        check_page(given.write)


if __name__ == "__main__":
    run(main)
