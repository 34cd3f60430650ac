"""Python files stay short enough to be read at once."""

from pathlib import Path

FOLDERS = ("pubmill", "scripts", "benchmarks", "snakemake_logger_plugin_pubmill", "tests")
MOST_LINES = 400


def longer_files(root: Path) -> dict[str, int]:
    """Return the Python files below these folders with more lines than allowed, and their lines."""
    files = [path for folder in FOLDERS for path in (root / folder).rglob("*.py")]
    lines = {path.relative_to(root).as_posix(): len(path.read_bytes().splitlines()) for path in files}
    return {name: count for name, count in lines.items() if count > MOST_LINES}


def test_no_python_file_is_longer_than_400_lines(root: Path) -> None:
    assert longer_files(root) == {}


def test_a_line_more_is_found_in_each_folder(tmp_path: Path) -> None:
    for folder in FOLDERS:
        (tmp_path / folder / "part").mkdir(parents=True)
        (tmp_path / folder / "part/whole.py").write_text("\n" * MOST_LINES)
        (tmp_path / folder / "part/longer.py").write_text("\n" * (MOST_LINES + 1))
    assert longer_files(tmp_path) == {f"{folder}/part/longer.py": 401 for folder in FOLDERS}
