"""Digests of each stage's sources, so that nobody changes what a stage does without saying so.

    python -m tests.stages              what changed since the digests were stored
    python -m tests.stages --confirm    store the present digests: either the stage's version in
                                        pubmill/targets/versions.py was bumped, or the change has no effect

The digest is over the syntax tree without docstrings: comments and formatting don't count.
"""

import ast
import hashlib
import json
import sys
from pathlib import Path

from pubmill.targets import METRIC_VERSIONS, VERSIONS

ROOT = Path(__file__).resolve().parents[1]
STORED = Path(__file__).with_name("stages.json")

SOURCES: dict[str, tuple[str, ...]] = {
    "download": ("pubmill/sources.py", "pubmill/network.py", "scripts/download.py"),
    "parse": ("pubmill/corpus/medline.py", "pubmill/corpus/text.py", "scripts/parse_*.py"),
    "latest": ("pubmill/corpus/versions.py", "scripts/latest_versions.py"),
    "select": ("pubmill/corpus/filters.py", "scripts/select_documents.py"),
    "statistics": ("pubmill/corpus/statistics.py", "scripts/corpus_statistics.py"),
    "vocab": ("pubmill/vocabs/*.py", "scripts/train_vocab.py"),
    "pack": ("pubmill/pretraining/packing.py", "pubmill/pretraining/sentences.py", "scripts/pack.py"),
    "pretrain": (
        "pubmill/pretraining/tokens.py",
        "pubmill/pretraining/instances.py",
        "pubmill/pretraining/masking.py",
        "pubmill/pretraining/architectures.py",
        "pubmill/pretraining/optimisation.py",
        "pubmill/pretraining/engine.py",
        "pubmill/pretraining/checkpoints.py",
        "pubmill/precision.py",
        "scripts/pretrain.py",
    ),
    "export": (
        "pubmill/pretraining/export.py",
        "pubmill/pretraining/architectures.py",
        "scripts/export_model.py",
    ),
    "convert": ("pubmill/convert/*.py", "pubmill/examples.py", "scripts/convert.py"),
    "finetune": ("pubmill/finetuning/*.py", "pubmill/precision.py", "scripts/finetune.py"),
    "choose": ("pubmill/finetuning/selection.py", "scripts/select_trial.py"),
    "score": ("pubmill/metrics/*.py", "pubmill/records.py", "scripts/score.py"),
    "table": ("pubmill/tables/*.py", "pubmill/tables/templates/*", "scripts/table.py"),
    "report": ("pubmill/tables/*.py", "pubmill/tables/templates/*", "scripts/report.py"),
}


def digest(stage: str) -> str:
    """SHA-256 over the stage's sources."""
    total = hashlib.sha256()
    for pattern in SOURCES[stage]:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file():
                total.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + _content(path) + b"\0")
    return total.hexdigest()


def _content(path: Path) -> bytes:
    if path.suffix != ".py":
        return path.read_bytes()
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                body.pop(0)
    return ast.dump(tree).encode()


def version(stage: str) -> object:
    """What Snakemake sees of a stage: its version, and for scoring the metrics' versions too."""
    return [VERSIONS[stage], METRIC_VERSIONS] if stage == "score" else VERSIONS[stage]


def present() -> dict[str, dict[str, object]]:
    return {stage: {"version": version(stage), "sources": digest(stage)} for stage in SOURCES}


def changed() -> list[str]:
    """One line for each stage whose sources are not those that were stored."""
    stored, now = json.loads(STORED.read_text()), present()
    return [
        f"{stage}: its sources changed, its version is {now[stage]['version']}"
        + (" as before" if stored[stage]["version"] == now[stage]["version"] else " (bumped)")
        for stage in now
        if stored.get(stage, {"version": None}) != now[stage]
    ]


if __name__ == "__main__":
    if "--confirm" in sys.argv[1:]:
        STORED.write_text(json.dumps(present(), indent=2) + "\n")
    print("\n".join(changed()) or "all stages are as stored")
