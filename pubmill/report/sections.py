"""Sections of the report that extras add: the constant `SECTION` of a module named `STAGE_section`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from pubmill import extras
from pubmill.recipes.report import ReportRecipe

ENDING = "_section"


class Section(NamedTuple):
    """A section of the report.

    - `anchor`, `title`: its anchor and heading in the page.
    - `content`: function `(recipe, results)` that returns its HTML below the heading, from files of its
      stage (`Stage.reported`); None if there is nothing to show.
    """

    anchor: str
    title: str
    content: Callable[[ReportRecipe, Path], Markup | None]


class ShownSection(NamedTuple):
    """A section as the page shows it."""

    anchor: str
    title: str
    content: Markup


def registered_sections() -> Mapping[str, Section]:
    """Return the sections of all extras, by the stage that makes their files."""
    modules = extras.modules(ENDING)
    return {one.__name__.rpartition(".")[2].removesuffix(ENDING): one.SECTION for one in modules}


def shown_sections(recipe: ReportRecipe, results: Path) -> list[ShownSection]:
    """Return the sections of the stages that the recipe names, without empty ones."""
    known = registered_sections()
    made = [(known[stage], known[stage].content(recipe, results)) for stage in recipe.sections]
    return [ShownSection(one.anchor, one.title, content) for one, content in made if content is not None]
