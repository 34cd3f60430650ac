"""Time and memory of planning: loading the specs, and planning all tables of each paper and of all papers.

Planning is measured as the graph alone (`snakemake -n -q`), and as a dry run, which also formats the message
of each job (`snakemake -n`).

    .venv/bin/python benchmarks/planning.py [--quick] [--checkout FOLDER]

No job runs. The user's own files are replaced by empty ones, so that nothing is left out. --quick plans one
paper. FOLDER: another copy of pubmill, with other specs. The last lines are `name: figure`.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from pubmill.recipes.models import LocalWeights
from pubmill.specs import Specs, load
from pubmill.specs.corpus_specs import MimicSource, TextSource
from pubmill.stages.availability import local_names

ONE = "gu2020"


class Planned(NamedTuple):
    """A dry run: its jobs (as `pubmill run -n` counts them), wall-clock seconds, processor seconds, and peak
    memory (MB)."""

    jobs: int
    seconds: float
    processor: float
    memory: float


def own_files(specs: Specs) -> Iterator[tuple[str, str]]:
    """Yield key and name of every file that users supply."""
    for dataset in specs.datasets.values():
        for key, names in local_names(dataset).items():
            yield from ((key, name) for name in names)
    for corpus in specs.corpora.values():
        for source in corpus.sources:
            if isinstance(source, TextSource):
                yield source.local, source.files.replace("*", "text")
            if isinstance(source, MimicSource):
                yield source.local, source.file
    for model in specs.models.values():
        if isinstance(model.weights, LocalWeights):
            for name in ("config.json", "model.safetensors", "vocab.txt"):
                yield model.weights.local, name


def stand_ins(specs: Specs, folder: Path) -> dict[str, str]:
    """Write empty files in place of the user's own; return them as `local_files`."""
    for key, name in own_files(specs):
        (folder / key).mkdir(parents=True, exist_ok=True)
        (folder / key / name).touch()
    return {path.name: str(path) for path in sorted(folder.iterdir())}


def configuration(tables: list[str], local_files: dict[str, str], folder: Path) -> dict[str, Any]:
    """Return the configuration of a study of these tables at full scale."""
    return {
        "study": "planning", "title": "planning", "scale": "full", "tables": tables, "models": None,
        "datasets": None, "mirror": None, "local_files": local_files, "results": str(folder / "results"),
    }  # fmt: skip


def dry_run(checkout: Path, config: dict[str, Any], folder: Path, *quiet: str) -> Planned:
    """Run `snakemake -n` in its own process; with `quiet` (`-q`) jobs are not counted and are 0."""
    file, said = folder / "study.yaml", folder / "said.txt"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "-n", *quiet, "--cores", "1", "--nolock"]
    began = time.perf_counter()
    with said.open("w", encoding="utf-8") as to:
        process = subprocess.Popen([*command, "--configfile", str(file)], cwd=checkout, stdout=to, stderr=to)
        _, status, used = os.wait4(process.pid, 0)
    total = re.search(r"(?m)^total +(\d+)", said.read_text(encoding="utf-8"))
    if status or not (total or quiet):
        sys.exit(f"the dry run failed:\n{said.read_text(encoding='utf-8')[-2000:]}")
    seconds = time.perf_counter() - began
    jobs = int(total[1]) - 1 if total else 0  # without the target `all`
    return Planned(jobs, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"only {ONE}")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="another copy of pubmill")
    arguments = parser.parse_args()
    began = time.process_time()
    specs = load(arguments.checkout / "specs", "full")
    lines = [f"loading specs: {time.process_time() - began:.2f} CPU-s"]
    tables = sorted([*specs.tables, *specs.fact_tables])
    papers = [ONE] if arguments.quick else sorted({table.partition("/")[0] for table in tables})
    with TemporaryDirectory() as name:
        folder = Path(name)
        local_files = stand_ins(specs, folder / "local")
        for paper in [*papers, *([] if arguments.quick else ["all"])]:
            wanted = [table for table in tables if paper in ("all", table.partition("/")[0])]
            config = configuration(wanted, local_files, folder)
            graph = dry_run(arguments.checkout, config, folder, "-q")
            worded = dry_run(arguments.checkout, config, folder)
            figures = "; ".join(
                f"{what} {found.seconds:.0f} s, {found.processor:.0f} CPU-s, {found.memory:.0f} MB"
                for what, found in (("graph", graph), ("dry run", worded))
            )
            lines.append(f"{paper}: {len(wanted)} tables, {worded.jobs:,} jobs; {figures}")
            print(lines[-1], flush=True)
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
