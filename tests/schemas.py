"""Write the JSON Schemas of YAML files, and name them in the files' first lines.

    .venv/bin/python -m tests.schemas --write

Without --write, print the files that would change.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from pubmill.specs.schemas import FOLDER, MARK, as_text, first_line, schema_of, schemas

ROOT = Path(__file__).resolve().parents[1]


def yaml_files(root: Path) -> Iterator[Path]:
    """Yield the YAML files that have a schema, relative to the checkout."""
    for path in [root / "config.yaml", *(root / "specs").rglob("*.yaml"), *(root / "studies").glob("*.yaml")]:
        if schema_of(path.relative_to(root)):
            yield path.relative_to(root)


def expected(root: Path) -> dict[Path, str]:
    """Return the text of every schema and YAML file as it should be."""
    made = {Path(FOLDER, f"{name}.json"): as_text(schema) for name, schema in schemas().items()}
    for path in yaml_files(root):
        text = (root / path).read_text(encoding="utf-8")
        rest = text.partition("\n")[2] if text.startswith(MARK) else text
        line = first_line(str(schema_of(path)), len(path.parts) - 1)
        made[path] = f"{line}\n{rest}"
    return made


def outdated(root: Path) -> dict[Path, str]:
    """Return the files that differ from what they should be, with the right text."""
    return {
        path: text
        for path, text in expected(root).items()
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.schemas")
    parser.add_argument("--write", action="store_true", help="write the files")
    write = parser.parse_args().write
    for path, text in outdated(ROOT).items():
        print(path)
        if write:
            (ROOT / path).parent.mkdir(exist_ok=True)
            (ROOT / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
