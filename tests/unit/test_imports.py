"""Who may import whom (CONTRIBUTING, "Rooms"), read from the syntax trees."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.imports import imported, reached

ROOMS = ("corpus", "vocabs", "convert", "pretraining", "finetuning", "metrics", "tables", "prediction")
MAY_ALSO = {
    "prediction": {"finetuning"},
    "corpus": {"sources"},
    "finetuning": {"metrics"},
    "tables": {"metrics"},
}
"""A room that another one is made for, or what brings its files; never the other way round."""
COMMON = {
    "commands",
    "archives",
    "contributions",
    "control_characters",
    "errors",
    "files",
    "network",
    "examples",
    "learning_rates",
    "optimisers",
    "database",
    "parquet",
    "entities",
    "model_folders",
    "tagging",
    "sentences",
    "records",
    "recipes",
    "parts",
    "names",
    "weights",
    "precision",
    "privacy",
    "provenance",
    "specs",
    "study",
    "targets",
    "whole_numbers",
}
RULES_MAY = {"errors", "files", "inspection", "specs", "study", "targets"}
BARE = {"filelock", "torch", "transformers", "numpy", "tokenizers", "safetensors", "tqdm", "yaml", "pubmill"}


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_only_themselves_and_what_is_common(root: Path, room: str) -> None:
    for path in (root / "pubmill" / room).rglob("*.py"):
        for module in imported(path):
            parts = module.split(".")
            if parts[0] == "pubmill" and len(parts) > 1:
                assert parts[1] in {room, *COMMON, *MAY_ALSO.get(room, ())}, f"{path} imports {module}"


def test_rules_import_specs_and_targets_only(root: Path) -> None:
    for path in [root / "Snakefile", *(root / "rules").glob("*.smk")]:
        for line in path.read_text().splitlines():
            if line.startswith(("import pubmill", "from pubmill")):
                module = line.split()[1]
                assert module.split(".")[1] in RULES_MAY, f"{path}: {line}"


def test_the_package_never_imports_the_scripts(root: Path) -> None:
    for path in (root / "pubmill").rglob("*.py"):
        assert not any(module.split(".")[0] == "scripts" for module in imported(path)), path


@pytest.mark.parametrize("script", ["pretrain", "finetune"])
def test_training_programs_need_only_torch_and_transformers(root: Path, script: str) -> None:
    """Follows every import of pubmill's own that the program reaches at start."""
    named = [*root.glob("pubmill/pretraining/objectives/*.py"), *root.glob("pubmill/optimisers/*.py")]
    files = reached(root, [root / "scripts" / f"{script}.py", *named])
    assert len(files) > 3
    for path in files:
        for module in imported(path):
            top = module.split(".")[0]
            assert top in BARE or top in sys.stdlib_module_names, f"{path} imports {module}"


def test_parsing_the_workflow_loads_neither_torch_nor_transformers(root: Path) -> None:
    heavy = ("torch", "transformers", "pandas", "duckdb", "scipy", "seqeval")
    code = f"import sys, pubmill.specs, pubmill.targets; sys.exit(any(m in sys.modules for m in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
