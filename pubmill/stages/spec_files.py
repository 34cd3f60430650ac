"""Files of specs, as rules name them."""

from pathlib import Path


def published_values(table: str, specs: Path) -> str:
    """Return the path of a table's published values."""
    return spec_file(specs, f"tables/{table}.published.csv")


def spec_file(specs: Path, below: str) -> str:
    """Return the path of a file below the folder of specs.

    Relative to the working folder where that is the checkout: a checkout that moves with its results would
    else look changed.
    """
    path = specs.resolve() / below
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
