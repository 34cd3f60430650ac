"""Headings and published values of tables of both kinds."""

from pathlib import Path
from typing import Any

from pubmill.specs import FactTableSpec, Specs, TableSpec


def heading(spec: TableSpec | FactTableSpec, scale: str, specs: Specs) -> dict[str, Any]:
    """Return the heading of a table."""
    return {
        "paper": spec.paper,
        "table": spec.name,
        "title": spec.title,
        "caption": spec.caption,
        "citation": spec.citation,
        "notes": spec.notes,
        "scale": scale,
        "scale_title": specs.scale.title,
    }


def published_values(table: str, specs: Path) -> str:
    """Return the path of a table's published values.

    Relative to the working folder where that is the checkout: a checkout that moves with its results would
    else look changed.
    """
    path = specs.resolve() / "tables" / f"{table}.published.csv"
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
