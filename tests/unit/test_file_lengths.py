"""Python files and files of rules stay short enough to be read at once."""

from pathlib import Path

MOST_LINES = {
    "pubmill/**/*.py": 500, "scripts/**/*.py": 500, "benchmarks/**/*.py": 500,
    "snakemake_logger_plugin_pubmill/**/*.py": 500, "tests/**/*.py": 500, "rules/**/*.smk": 150,
}  # fmt: skip


def test_no_file_is_longer_than_allowed(root: Path) -> None:
    for pattern, most in MOST_LINES.items():
        lines = {path: len(path.read_bytes().splitlines()) for path in root.glob(pattern)}
        assert lines and [path for path, count in lines.items() if count > most] == [], pattern
