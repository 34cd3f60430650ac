"""Arguments of programs and files of specs in the params of rules."""

import hashlib
from pathlib import Path

from pubmill.recipes.reading import as_json
from pubmill.storage.files import writing
from pubmill.storage.result_paths import Paths

LONG = 4_000
"""Characters from which a recipe is read from a file: the system refuses arguments of 131,072 bytes."""


class LongRecipe(str):
    """Recipe text that a command reads from a file, which the run writes before its first job. Snakemake
    compares and stores the text; in a command, the text is formatted as the file's path."""

    path: str

    def __new__(cls, text: str, paths: Paths) -> "LongRecipe":
        """Add the path, named by the text's digest."""
        made = super().__new__(cls, text)
        made.path = paths.recipe(hashlib.sha256(text.encode()).hexdigest()[:16])
        return made

    def __format__(self, form: str) -> str:
        """Return the path."""
        return self.path

    def write(self) -> None:
        """Write the file if it is not there or has changed."""
        path = Path(self.path)
        if not path.is_file() or path.read_bytes() != self.encode():
            with writing(path) as temporary:
                temporary.write_text(self, encoding="utf-8")


def recipe_argument(recipe: object, paths: Paths) -> str:
    """Return a recipe as a program's argument: its JSON text, or a `LongRecipe` from `LONG` characters on."""
    text = as_json(recipe)
    return text if len(text) < LONG else LongRecipe(text, paths)


def as_arguments(inputs: dict[str, str]) -> list[str]:
    """Return named inputs as a program's arguments."""
    return [word for name, path in inputs.items() for word in (f"--{name}", path)]


def published_values(table: str, specs: Path) -> str:
    """Return the path of a table's published values."""
    return spec_file(specs, f"tables/{table}.published.csv")


def spec_file(specs: Path, below: str) -> str:
    """Return the path of a file in the folder of specs. It is relative if it lies below the working folder,
    so that moving a checkout together with its results changes no parameter."""
    path = specs.resolve() / below
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
