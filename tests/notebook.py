"""The notebook of docs/library.md: run cell by cell in this process, and written with its outputs.

    .venv/bin/python -m tests.notebook --write

It needs the demo's made-up files and ChemProt of them, which `made` makes in a folder.
"""

import ast
import io
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

import nbformat

from pubmill.convert.dataset import convert
from pubmill.specs import load
from pubmill.stages.dataset_recipes import conversion_recipe
from tests.conftest import ROOT
from tests.dataset_specs import inputs_of
from tests.world import write_world

PATH = ROOT / "docs/library.ipynb"
DATASET = "chemprot@blurb"
REPRESENTATIONS = {"image/svg+xml": "_repr_svg_", "text/html": "_repr_html_"}


def made(folder: Path, world: Path | None = None) -> Path:
    """Make what the notebook reads; return the folder in which it runs."""
    mirror = folder / "tests/world/mirror"
    mirror.parent.mkdir(parents=True)
    if world:
        mirror.symlink_to(world)
    else:
        write_world(mirror)
    spec = load(ROOT / "specs", "demo").datasets[DATASET]
    inputs = inputs_of(DATASET, mirror)
    convert(conversion_recipe(DATASET, spec), inputs, folder / f"results/demo/datasets/{DATASET}")
    return folder


def executed(folder: Path) -> list[list[Any]]:
    names: dict[str, Any] = {"__name__": "__main__"}
    with chdir(folder):
        return [_run(cell.source, names) for cell in read().cells if cell.cell_type == "code"]


def read() -> Any:
    found = nbformat.read(PATH, as_version=4)
    nbformat.validate(found)
    return found


def _run(source: str, names: dict[str, Any]) -> list[Any]:
    tree, printed = ast.parse(source), io.StringIO()
    *_, last = tree.body
    final = ast.Expression(tree.body.pop().value) if isinstance(last, ast.Expr) else None  # type: ignore[attr-defined]
    with redirect_stdout(printed):
        exec(compile(tree, str(PATH), "exec"), names)
        value = eval(compile(final, str(PATH), "eval"), names) if final else None
    streams = [nbformat.v4.new_output("stream", text=printed.getvalue())] if printed.getvalue() else []
    shown = [nbformat.v4.new_output("display_data", _data(value))] if value is not None else []
    return streams + shown


def _data(value: Any) -> dict[str, str]:
    rich = {form: getattr(value, name)() for form, name in REPRESENTATIONS.items() if hasattr(value, name)}
    return {**rich, "text/plain": "" if "image/svg+xml" in rich else repr(value)}


def write() -> None:
    book = read()
    with tempfile.TemporaryDirectory() as folder:
        results = iter(executed(made(Path(folder))))
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = next(results)
    nbformat.write(book, PATH)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m tests.notebook --write")
    write()
