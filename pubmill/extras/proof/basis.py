"""What a table of results is recomputed from: its recipe, the tables that it refers to, and its ranks."""

from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from pubmill.extras.proof.proofs import TableBasisRecipe
from pubmill.recipes.tables import TableRecipe
from pubmill.recipes.writing import as_values
from pubmill.storage.result_paths import BELOW
from pubmill.tables.aggregation import other_tables
from pubmill.tables.cells import read_table
from pubmill.tables.ranks import rankings_of, rankings_of_runs


def table_basis(recipe: TableBasisRecipe, specs: Path, results: Path) -> dict[str, Any]:
    """Return the basis of a finished table, as JSON."""
    name = recipe.audited.name
    published = specs / recipe.audited.file
    table = read_table(results / BELOW.table(name, "json"))
    others = other_tables(recipe.table, published, results)
    basis: dict[str, Any] = to_jsonable_python(
        {
            "recipe": without_others(recipe.table),
            "others": {
                other: {"recipe": without_others(part), "cells": others[other].cells}
                for other, part in recipe.table.others.items()
            },
            "ranks": {
                "published": rankings_of(recipe.audited, specs)[0],
                "runs": rankings_of_runs(recipe.audited, table, results)[0],
            },
        }
    )
    return basis


def without_others(recipe: TableRecipe) -> dict[str, Any]:
    """Return the JSON of a recipe without other tables."""
    return {name: value for name, value in as_values(recipe).items() if name != "others"}
