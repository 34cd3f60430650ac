"""Test files that may notice a change of a module, the closest first."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.imports import imported

OWN = ("pubmill", "scripts", "tests", "benchmarks", "boards", "snakemake_logger_plugin_pubmill")
"""Packages and folders whose modules are those of the checkout: any of them may hold modules of pubmill."""
NAMED = re.compile(rf"\b(?:{'|'.join(OWN)})(?:[./]\w+)+")
"""Modules and programs that the text of a file names: they may be imported by name, or started."""
COMMAND = "_command"
"""End of the names of modules that hold a verb of the command."""
NEAR = 2
"""Most imports between a module and a test of another room that still counts: forms that several rooms read
stand in one room, and some of their tests are those of a reader."""


def module_name(path: Path) -> str:
    """Return the name under which the file at a relative path is imported."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def importers(root: Path) -> dict[Path, set[Path]]:
    """Map each file of a checkout to the files that import or name it. Paths are relative to `root`."""
    files = {
        module_name(path.relative_to(root)): path.relative_to(root)
        for name in OWN
        for path in sorted((root / name).rglob("*.py"))
    }
    found: dict[Path, set[Path]] = defaultdict(set)
    for path in files.values():
        for name in _names(root, path, files):
            for end in range(1, len(parts := name.split(".")) + 1):
                found[files.get(".".join(parts[:end]), path)].add(path)
    return found


def _names(root: Path, path: Path, files: Mapping[str, Path]) -> Iterator[str]:
    text = (root / path).read_text(encoding="utf-8")
    yield from imported(root / path)
    yield from (name.replace("/", ".").removesuffix(".py") for name in NAMED.findall(text))
    if path.parts[0] == "tests":
        yield from (name for name in files if name.endswith(COMMAND) and _is_typed(name, text))
        yield from (name for name in files if f'run_program("{name.rpartition(".")[2]}"' in text)
    if "import_module" in text:  # the name may come from a spec: any module of the room
        yield from (name for name, file in files.items() if file.parent == path.parent)


def _is_typed(module: str, text: str) -> bool:
    """Whether a test's text has the verb of a module of the command: `"audit", "seen"` or `"data-check"`."""
    words = module.rpartition(".")[2].removesuffix(COMMAND).split("_")
    return any(f'"{between.join(words)}"' in text for between in ('", "', "-"))


def distances(module: Path, importers: Mapping[Path, set[Path]]) -> dict[Path, int]:
    """Map each file that reaches a module to the number of imports on the shortest way to it."""
    found = {module: 0}
    waiting = [module]
    for path in waiting:
        new = importers.get(path, set()) - found.keys()
        found |= dict.fromkeys(new, found[path] + 1)
        waiting += new
    return found


def files_for(module: Path, importers: Mapping[Path, set[Path]]) -> list[list[str]]:
    """Return the test files of a module, the closest first: of its room those named after it, then those
    importing it; those of other rooms that import it, unless it is a package; those of its room that reach
    it through other modules; at last those of other rooms that reach it by `NEAR` imports."""
    away = distances(module, importers)
    groups: list[list[Path]] = [[], [], [], [], []]
    room, is_package = Path("tests/unit", module.parts[1]), module.name == "__init__.py"
    found = [path for path in away if path.is_relative_to("tests/unit") and path.stem.startswith("test_")]
    for path in sorted(found, key=lambda path: (away[path], path)):
        if path.is_relative_to(room):
            is_named = path.stem.startswith(f"test_{module.stem}")
            groups[0 if is_named else 1 if away[path] == 1 else 3].append(path)
        elif not is_package and away[path] == 1:
            groups[2].append(path)
        elif not is_package and away[path] <= NEAR and path.parent != Path("tests/unit"):
            groups[4].append(path)
    return [[path.as_posix() for path in group] for group in groups if group]
