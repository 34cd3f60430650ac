"""Digests of each stage's sources, so that every change of a stage's behaviour is confirmed.

    python -m tests.stages              list the stages that changed since the digests were stored
    python -m tests.stages --confirm    store the current digests: either the stage's `version` was raised, or
                                        the change has no effect

A stage's sources are its programs, the commands that start them, every module of pubmill that they import,
directly or indirectly, and templates. The digest is over the syntax trees without docstrings, so comments and
formatting do not count.
"""

import ast
import hashlib
import json
import sys
from functools import cache
from pathlib import Path

from pubmill.messages.run_sources import NO_SOURCES
from pubmill.metrics import METRICS
from pubmill.stages.run_stages import Score
from pubmill.stages.stage import stages
from tests.imports import reached
from tests.rule_commands import commands

ROOT = Path(__file__).resolve().parents[1]
STORED = Path(__file__).with_name("stages.json")


def sources(stage: str) -> list[Path]:
    """Return the files that determine what a stage writes."""
    kind = stages()[stage]
    patterns = (kind.program, *kind.read_by_name)
    found = {path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()}
    programs = {path for path in found if path.suffix == ".py"} | {ROOT / "pubmill/job.py"}
    return sorted(found | reached(ROOT, programs, NO_SOURCES))


def started_by(stage: str) -> list[str]:
    """Return the commands of the rules that start a stage's programs."""
    path = Path(stages()[stage].program)
    programs = [f"/{path.name} ", f"pubmill.job {path.stem} "]
    return [command for command in commands() if any(program in command for program in programs)]


def digest(stage: str) -> str:
    total = hashlib.sha256()
    for path in sources(stage):
        total.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + without_docstrings(path) + b"\0")
    total.update("\n".join(started_by(stage)).encode())
    return total.hexdigest()


def without_docstrings(path: Path) -> bytes:
    return _syntax(path.read_text(encoding="utf-8")) if path.suffix == ".py" else path.read_bytes()


@cache
def _syntax(source: str) -> bytes:
    """Return the syntax tree without docstrings, as text."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                body.pop(0)
    return ast.dump(tree).encode()


def version(stage: str) -> object:
    """Return the version of a stage as Snakemake sees it; for scoring, also the metrics' versions."""
    versions = {name: metric.version for name, metric in METRICS.items()}
    number = stages()[stage].version
    return [number, versions] if stage == Score.name else number


def present() -> dict[str, dict[str, object]]:
    return {stage: {"version": version(stage), "sources": digest(stage)} for stage in stages()}


def changed() -> list[str]:
    """Return one line for each stage whose sources differ from the stored digests."""
    stored, now = json.loads(STORED.read_text()), present()
    return [
        f"{stage}: its sources changed, its version is {now[stage]['version']}"
        + (" as before" if stored.get(stage, {}).get("version") == now[stage]["version"] else " (bumped)")
        for stage in now
        if stored.get(stage) != now[stage]
    ]


if __name__ == "__main__":
    if "--confirm" in sys.argv[1:]:
        STORED.write_text(json.dumps(present(), indent=2) + "\n")
    print("\n".join(changed()) or "all stages match the stored digests")
