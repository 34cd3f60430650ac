"""Renderers of the audit of published values."""

from pubmill.messages import commands
from pubmill.report.rendering import renderers
from pubmill.storage.result_paths import PAGE_FORMATS
from pubmill.tables.audit import Audit


def audit_values(shown: Audit) -> dict[str, object]:
    """Return the variables of the page's templates, with the commands that it advises."""
    return {
        "shown": shown,
        "command": commands.pubmill(*"audit value 87.56 --metric accuracy --n 140 --runs 10".split()),
        "ranks_command": commands.pubmill(*"audit ranks gu2020/table06".split()),
    }


AUDIT_RENDERERS = renderers("audit", PAGE_FORMATS, audit_values)
