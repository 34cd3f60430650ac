"""The section of the report on floors and the room above them."""

from pathlib import Path

from markupsafe import Markup

from pubmill.extras.floors.floors_stages import WORD
from pubmill.extras.floors.headroom import TEMPLATES, StudyHeadroom
from pubmill.recipes.report import ReportRecipe
from pubmill.report.rendering import environment
from pubmill.report.study_report import Section
from pubmill.storage.result_paths import RELATIVE
from pubmill.tables.cells import read_as


def _content(recipe: ReportRecipe, results: Path) -> Markup | None:
    shown = read_as(StudyHeadroom, results / f"{RELATIVE.report(recipe.study, WORD)}.json")
    template = environment(None, TEMPLATES).get_template("floors_section.html.j2")
    return Markup(template.render(shown=shown)) if shown.tables else None


SECTION = Section("floors", "Floors and headroom", _content)
