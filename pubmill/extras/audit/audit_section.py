"""Sections of the report on published values: what other papers print, and whether they are possible."""

from functools import partial
from pathlib import Path

from markupsafe import Markup

from pubmill.extras.audit.audit_stages import PAGE
from pubmill.extras.audit.value_audit import TEMPLATES, Audit
from pubmill.recipes.report import ReportRecipe
from pubmill.report.rendering import environment
from pubmill.report.study_report import Section
from pubmill.tables.cells import read_as


def _content(part: str, recipe: ReportRecipe, results: Path) -> Markup | None:
    audit = read_as(Audit, results / f"{PAGE}.json")
    shown = audit.of_tables(recipe.tables)
    if not getattr(shown, part):
        return None
    template = environment(None, TEMPLATES).get_template(f"{part}_section.html.j2")
    return Markup(template.render(shown=shown, known=len(audit.contradictions)))


DISAGREEMENTS = Section("contradictions", "Where the papers disagree", partial(_content, "contradictions"))
VERDICTS = Section("audit", "Are these numbers possible?", partial(_content, "findings"))
