"""Cells of other tables, to which cells of a table refer."""

from dataclasses import dataclass

from pubmill.recipes.recipe_types import FORBID_UNKNOWN


def printed_name(name: str) -> str:
    """Return a table as its paper names it: `Table 6` for table06, `Section 3` for section3."""
    word = name.rstrip("0123456789")
    return f"{word.capitalize()} {int(name.removeprefix(word))}"


def table_title(table: str) -> str:
    """Return a table as a text names it: `gu2020 Table 6` for gu2020/table06."""
    paper, _, name = table.partition("/")
    return f"{paper} {printed_name(name)}"


@dataclass(frozen=True, kw_only=True)
class ReferencedCell:
    """A cell of another table (`PAPER/tableNN`). `linked`: whether the study makes that table, so that pages
    may link to it."""

    __pydantic_config__ = FORBID_UNKNOWN

    table: str
    column: str
    row: str
    linked: bool

    @property
    def title(self) -> str:
        """The table as a text names it: `gu2020 Table 6`."""
        return table_title(self.table)
