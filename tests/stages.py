"""Digests of each stage's sources, so that every change of a stage's behaviour is confirmed.

    python -m tests.stages              list the stages that changed since the digests were stored
    python -m tests.stages --confirm    store the current digests: either the stage's version in
                                        pubmill/graph/stage_versions.py was raised, or the change has no
                                        effect

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

from pubmill.graph import VERSIONS
from pubmill.messages.run_sources import NO_SOURCES
from pubmill.metrics import METRICS
from tests.imports import reached
from tests.rule_commands import commands

ROOT = Path(__file__).resolve().parents[1]
STORED = Path(__file__).with_name("stages.json")

BEGINNINGS: dict[str, tuple[str, ...]] = {
    "download": ("scripts/download.py",),
    "plan_pmc": ("scripts/plan_pmc.py",),
    "fetch_pmc": ("scripts/fetch_pmc.py",),
    "parse": ("scripts/parse_*.py",),
    "latest": ("scripts/latest_versions.py",),
    "lock": ("scripts/lock_corpus.py",),
    "select": ("scripts/select_documents.py",),
    "duplicates": ("scripts/fingerprint.py", "scripts/find_duplicates.py"),
    "contamination": (
        "scripts/index_evaluation_texts.py",
        "scripts/find_contamination.py",
        "scripts/contamination.py",
    ),
    "statistics": ("scripts/corpus_statistics.py",),
    "count": ("scripts/count_words.py",),
    "vocab": ("scripts/train_vocab.py", "scripts/take_vocab.py"),
    "fit": ("scripts/vocab_diagnosis.py",),
    "pack": ("scripts/pack.py",),
    # imported by their names in the registries
    "pretrain": ("scripts/pretrain.py", "pubmill/pretraining/objectives/*.py", "pubmill/optimisers/*.py"),
    "pin": ("scripts/pin_weights.py",),
    "export": ("scripts/export_model.py",),
    "convert": ("scripts/convert.py", "pubmill/convert/*.py"),  # specs name converters: nothing imports them
    "concepts": ("scripts/concepts.py",),
    "floors": ("scripts/measure_floors.py",),
    "years": ("scripts/document_years.py",),
    "finetune": ("scripts/finetune.py",),
    "annotate": ("scripts/annotate.py", "scripts/take_predictions.py"),
    "choose": ("scripts/select_trial.py",),
    "score": ("scripts/score.py",),
    "table": ("scripts/table.py", "pubmill/report/templates/*"),
    "compare": ("scripts/compare.py", "pubmill/report/templates/*"),
    "transfer": ("scripts/transfer.py",),
    "transfer_matrix": ("scripts/transfer_matrix.py", "pubmill/report/templates/*"),
    "overlap": ("scripts/overlap.py", "pubmill/report/templates/*"),
    "fact_table": ("scripts/fact_table.py", "pubmill/report/templates/*"),
    "page": ("scripts/dataset_page.py", "pubmill/report/templates/*"),
    "contradictions": ("scripts/contradictions.py", "pubmill/report/templates/*"),
    "audit": ("scripts/audit.py", "pubmill/report/templates/*"),
    "report": ("scripts/report.py", "pubmill/report/templates/*"),
    "checklist": ("scripts/checklist.py", "pubmill/report/templates/*"),
    "crate": ("scripts/crate.py",),
    "basis": ("scripts/proof.py",),
    "proof": ("scripts/proof.py", "pubmill/extras/proof/verifier/*.py"),
}
"""Stage -> the files from which its sources are collected."""


def sources(stage: str) -> list[Path]:
    """Return the files that determine what a stage writes."""
    found = {path for pattern in BEGINNINGS[stage] for path in ROOT.glob(pattern) if path.is_file()}
    programs = {path for path in found if path.suffix == ".py"}
    return sorted(found | reached(ROOT, programs, NO_SOURCES))


def started_by(stage: str) -> list[str]:
    """Return the commands of the rules that start a stage's programs."""
    programs = [f"/{path.name} " for path in sources(stage) if path.parent.name == "scripts"]
    return [command for command in commands() if any(program in command for program in programs)]


def digest(stage: str) -> str:
    """Return the SHA-256 of the stage's sources."""
    total = hashlib.sha256()
    for path in sources(stage):
        total.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + _content(path) + b"\0")
    total.update("\n".join(started_by(stage)).encode())
    return total.hexdigest()


def _content(path: Path) -> bytes:
    return _syntax(path.read_text()) if path.suffix == ".py" else path.read_bytes()


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
    return [VERSIONS[stage], versions] if stage == "score" else VERSIONS[stage]


def present() -> dict[str, dict[str, object]]:
    return {stage: {"version": version(stage), "sources": digest(stage)} for stage in BEGINNINGS}


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
