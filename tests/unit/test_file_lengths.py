"""Python files and files of rules stay short enough to be read at once."""

from pathlib import Path

MOST_LINES = {
    "pubmill/**/*.py": 500, "scripts/**/*.py": 500, "benchmarks/**/*.py": 500,
    "snakemake_logger_plugin_pubmill/**/*.py": 500, "tests/**/*.py": 500, "rules/**/*.smk": 150,
}  # fmt: skip


def longer_files(root: Path) -> dict[str, int]:
    """Return the files with more lines than allowed, and their lines."""
    found = ((path, most) for pattern, most in MOST_LINES.items() for path in root.glob(pattern))
    lines = ((path, len(path.read_bytes().splitlines()), most) for path, most in found)
    return {path.relative_to(root).as_posix(): count for path, count, most in lines if count > most}


def test_no_file_is_longer_than_allowed(root: Path) -> None:
    assert longer_files(root) == {}


def test_a_line_more_is_found_in_each_folder(tmp_path: Path) -> None:
    expected = {}
    for pattern, most in MOST_LINES.items():
        folder, _, name = pattern.partition("/**/*")
        (tmp_path / folder / "part").mkdir(parents=True)
        (tmp_path / folder / f"part/whole{name}").write_text("\n" * most)
        (tmp_path / folder / f"part/longer{name}").write_text("\n" * (most + 1))
        expected[f"{folder}/part/longer{name}"] = most + 1
    assert longer_files(tmp_path) == expected
