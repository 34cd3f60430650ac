"""Tables of generated pages in Markdown."""

from collections.abc import Iterable


def table(columns: str, rows: Iterable[Iterable[object]]) -> str:
    """Return a table; columns whose names, parted by bars, end with a colon hold numbers."""
    names = columns.split("|")
    rule = "|".join("---:" if name.endswith(":") else "---" for name in names)
    lines = [[name.removesuffix(":").strip() for name in names], *rows]
    head, *others = (f"| {' | '.join(map(str, cells))} |" for cells in lines)
    return "\n".join([head, f"|{rule}|", *others]) + "\n"
