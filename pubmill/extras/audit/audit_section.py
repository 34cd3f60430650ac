"""The section of the report on whether the published values of its tables are possible."""

from pathlib import Path

from markupsafe import Markup

from pubmill.extras.audit.audit_stages import PAGE
from pubmill.extras.audit.value_audit import TEMPLATES, Audit
from pubmill.recipes.report import ReportRecipe
from pubmill.report.rendering import environment
from pubmill.report.study_report import Section
from pubmill.tables.cells import read_as


def _content(recipe: ReportRecipe, results: Path) -> Markup | None:
    audit = read_as(Audit, results / f"{PAGE}.json").of_tables(recipe.tables)
    if not audit.findings:
        return None
    return Markup(environment(None, TEMPLATES).get_template("audit_section.html.j2").render(shown=audit))


SECTION = Section("audit", "Are these numbers possible?", _content)
