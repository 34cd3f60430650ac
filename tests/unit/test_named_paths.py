"""Paths, modules and rooms that the documentation names."""

import re
from pathlib import Path

from tests import generated_pages
from tests.printed import documents
from tests.unit.test_imports import ROOMS

FOLDERS = "benchmarks|docs|envs|profiles|pubmill|requirements|rules|scripts|specs|studies|tests"
PATH = re.compile(rf"(?<![\w/.-])(?:{FOLDERS})/[\w./@+-]*\w")
MODULE = re.compile(r"(?<![\w/.-])(?:pubmill|tests)(?!\.(?:json|sif)\b)(?:\.\w+)+")
EXAMPLES = {
    "specs/datasets/mine.yaml", "tests/datasets/mine", "specs/models/my-bert.yaml",
    "specs/models/my-first.yaml", "specs/pretraining/my-first.yaml", "specs/pretraining/my-modernbert.yaml",
    "studies/mine.yaml", "studies/my-first.yaml", "specs/pretraining/pubmedbert-base@20-percent.yaml",
    "benchmarks/pretraining.json", "tests/world/mirror",
}  # fmt: skip
"""Files that a reader would write, and those that a program writes."""
BUILT = {"docs/fidelity", "docs/reference", *(f"docs/{page}" for page in generated_pages.names())}
PLACEHOLDER = re.compile(r"\b[A-Z]{4,}\b|NN")


def missing_paths(text: str, root: Path) -> list[str]:
    """Paths in a text that do not exist below `root`; paths with a placeholder such as NAME are skipped."""
    found = {path for path in PATH.findall(text) if not PLACEHOLDER.search(path)} - EXAMPLES - BUILT
    return sorted(path for path in found if not (root / path).exists())


def missing_modules(text: str, root: Path) -> list[str]:
    """Dotted names in a text that are neither a module nor a name defined in one."""
    return sorted(name for name in set(MODULE.findall(text)) if not is_defined(name, root))


def is_defined(name: str, root: Path) -> bool:
    path = root / name.replace(".", "/")
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    module = path.parent.with_suffix(".py")
    return module.is_file() and re.search(rf"(?m)^(def|class) {path.name}\b", module.read_text()) is not None


def pages(root: Path) -> list[Path]:
    return [path for path in documents(root) if path.is_file()]


def test_every_path_that_a_page_names_exists(root: Path) -> None:
    text = "in `pubmill/recipes.py` and `specs/models/NAME.yaml`"
    assert missing_paths(text, root) == ["pubmill/recipes.py"]
    missing = {path.name: missing_paths(path.read_text(), root) for path in pages(root)}
    assert {name: paths for name, paths in missing.items() if paths} == {}


def test_every_module_that_a_page_names_exists(root: Path) -> None:
    assert missing_modules("`pubmill.errors.PubmillError`, `pubmill.recipe`", root) == ["pubmill.recipe"]
    missing = {path.name: missing_modules(path.read_text(), root) for path in pages(root)}
    assert {name: modules for name, modules in missing.items() if modules} == {}


def test_architecture_lists_the_rooms_from_the_lowest_to_the_highest(root: Path) -> None:
    section = (root / "docs/architecture.md").read_text().split("\n## Rooms\n")[1].split("\n## ")[0]
    table = section.split("\n\n")[1]
    assert re.findall(r"(?m)^\| `(\w+)` \|", table) == list(ROOMS)
