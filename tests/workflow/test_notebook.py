"""The notebook of docs/library.md does what it shows."""

from pathlib import Path

from tests import notebook


def test_every_output_of_the_notebook_is_that_of_its_code(world: Path, tmp_path: Path) -> None:
    shown = [cell.outputs for cell in notebook.read().cells if cell.cell_type == "code"]
    assert notebook.executed(notebook.made(tmp_path, world)) == shown
    assert [output.data["image/svg+xml"] for output in shown[-1]]
