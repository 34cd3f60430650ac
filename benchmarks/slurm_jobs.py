"""Jobs that a Slurm runs to parse many small files, and what they cost its scheduler, by its own figures.

    .venv/bin/python benchmarks/slurm_jobs.py [--files 2000] [--block-files 50]

Needs root and Debian's packages slurm-wlm and munge: a Slurm of three nodes is started on this machine
(tests/cluster). The files are texts of one line each, already among the results' sources; the graph, rules
and profile are pubmill's own, with more frequent status checks. A job parses `--block-files` of them.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.storage.sources import download

CODE = ("Snakefile", "config.yaml", "envs", "pubmill", "profiles", "rules", "scripts", "specs", "studies")
SPEC = """\
name: many
sources: [{name: lines, kind: text, local: lines, files: "*.txt", documents: line}]
selection: {min_words: 1}
"""
FIGURES = (
    "Jobs submitted", "Jobs completed", "Jobs failed", "Mean cycle", "Max cycle", "Cycles per minute",
    "REQUEST_SUBMIT_BATCH_JOB", "REQUEST_JOB_INFO", "REQUEST_COMPLETE_BATCH_SCRIPT",
)  # fmt: skip


def write_project(folder: Path, files: int, block_files: int) -> Path:
    """Write a copy of the checkout's code with such a corpus, and its files; return their folder."""
    for name in CODE:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "snakemake_logger_plugin_pubmill", folder / "snakemake_logger_plugin_pubmill")
    (folder / "specs/corpora/many.yaml").write_text(SPEC, encoding="utf-8")
    scale = folder / "specs/scales/demo.yaml"
    text = scale.read_text(encoding="utf-8")
    scale.write_text(re.sub(r"block_files: \d+", f"block_files: {block_files}", text), encoding="utf-8")
    lines = folder / "lines"
    lines.mkdir()
    for number in range(files):
        path = lines / f"file{number:05d}.txt"
        path.write_text(f"The text of file number {number}.\n", encoding="utf-8")
        download(path.as_uri(), folder / "results/demo/sources/local/lines" / path.name)
    return lines


def run(folder: Path, lines: Path) -> tuple[float, float]:
    """Run the graph up to the current versions of the documents; return seconds and processor seconds of
    Snakemake itself."""
    target = "results/demo/corpora/many/latest.parquet"
    command = [
        sys.executable, "-m", "snakemake", "--profile", "profiles/slurm", "--slurm-no-account",
        "--seconds-between-status-checks", "5", "--slurm-init-seconds-before-status-checks", "5",
        "--config", f"local_files={json.dumps({'lines': str(lines)})}", "datasets=[]", "--", target,
    ]  # fmt: skip
    start = time.monotonic()
    with (folder / "run.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit((folder / "run.log").read_text(encoding="utf-8")[-3000:])
    return time.monotonic() - start, used.ru_utime + used.ru_stime


def scheduler_figures() -> dict[str, str]:
    """Return figures of `sdiag` since the start of Slurm; times in microseconds."""
    text = subprocess.run(["sdiag"], check=True, capture_output=True, text=True).stdout
    found = {name: re.search(rf"{name}\s*(?:\([^)]*\)\s*)?(?::|count:)\s*(\d+)", text) for name in FIGURES}
    return {name: match[1] for name, match in found.items() if match}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--block-files", type=int, default=50, help="files of a job")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder, slurm = Path(temporary, "project"), Path(temporary, "slurm")
        folder.mkdir()
        lines = write_project(folder, chosen.files, chosen.block_files)
        os.environ |= {"SLURM_ROOT": str(slurm), "SLURM_CONF": str(slurm / "etc/slurm.conf")}
        try:
            subprocess.run([ROOT / "tests/cluster/slurm_up.sh"], check=True)
            seconds, cpu = run(folder, lines)
            figures = scheduler_figures()
        finally:
            subprocess.run([ROOT / "tests/cluster/slurm_down.sh"], check=False)
        parsed = len(list(folder.glob("results/demo/corpora/parsed/lines/*.parquet")))
    print(f"{parsed} files parsed in {seconds:.0f} s; Snakemake itself {cpu:.1f} CPU-s")
    for name, value in figures.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
