"""The border of the extras: no file of the core names one, or has a field that only extras read."""

import ast
import re
from pathlib import Path

import pytest

from pubmill import extras

EXTRAS = {path.parent.name for path in Path(extras.__path__[0]).glob("*/__init__.py")}
ORDINARY = {"archive", "ask", "board"}
"""Words of English, which only count in the places where an extra is named."""
CORE = ("pubmill", "scripts", "rules", "profiles", "studies", "specs/scales", "Snakefile", "config.yaml")
FIELDS = ("specs/*.py", "recipes/*.py", "tables/*.py", "metrics/records.py", "storage/training_reports.py")
"""Modules whose classes are specs, recipes and records."""
ASKED = re.compile(r"^extras: \[[a-z, ]*\]")
"""The key of a study that asks extras for what they make."""
PROMPTED = "PromptedWeights"
"""The kind of model that an extra answers for. It is copied to recipes field by field (`project`)."""


def core_files(root: Path, *suffixes: str) -> list[Path]:
    """Return the files of the core with one of these suffixes ("": none)."""
    paths = [path for name in CORE for path in [root / name, *(root / name).rglob("*")] if path.is_file()]
    return [path for path in paths if path.suffix in suffixes and not {"extras", "_data"} & {*path.parts}]


def named_as_extra(name: str) -> re.Pattern[str]:
    """Return the pattern of the places where an extra is named: its modules, its verb, its stage."""
    places = rf"extras[./]{name}\b|pubmill {name}\b|graph\.{name}\b|\b{name}_(command|stages|section)\b"
    return re.compile(places if name in ORDINARY else rf"{places}|(?<![a-z]){name}(?![a-z])", re.IGNORECASE)


@pytest.mark.parametrize("name", sorted(EXTRAS))
def test_no_file_of_the_core_names_an_extra(root: Path, name: str) -> None:
    pattern = named_as_extra(name)
    for path in core_files(root, ".py", ".smk", ".yaml", ".j2", ".js", ".css", ".md", ""):
        file = str(path.relative_to(root))
        lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        assert [
            f"{file}:{number}: {line}" for number, line in lines if pattern.search(ASKED.sub("", line))
        ] == []


def fields(path: Path) -> dict[str, str]:
    """Return the annotated fields of a module's classes, with the class of each."""
    classes = [one for one in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(one, ast.ClassDef)]
    return {
        one.target.id: of.name
        for of in classes
        for one in of.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and of.name != PROMPTED
    }


def test_no_field_of_the_core_is_read_by_extras_alone(root: Path) -> None:
    core = "\n".join(path.read_text("utf-8") for path in core_files(root, ".py", ".j2", ".smk", ""))
    beside = [*(root / "pubmill/extras").rglob("*.py"), *(root / "pubmill/extras").rglob("*.j2")]
    extra = "\n".join(path.read_text("utf-8") for path in beside)
    known: dict[str, str] = {}
    for pattern in FIELDS:
        for path in (root / "pubmill").glob(pattern):
            known |= fields(path)
    alone = [
        f"{of}.{name}"
        for name, of in known.items()
        if re.search(rf"\.{name}\b", extra) and not re.search(rf"\.{name}\b|[\"']{name}[\"']", core)
    ]
    assert len(known) > 300 and alone == []
