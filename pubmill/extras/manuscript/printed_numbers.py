"""Numbers as a manuscript prints them, compared with exact ones."""

import re
from typing import NamedTuple

NUMBER = re.compile(
    r"(?<![\w.,])[-+\N{MINUS SIGN}]?(?:\d{1,4}(?:\.\d{1,6})?|\.\d{1,6})(?![A-Za-z0-9]|[.,]\d)"
)
"""A number in decimal notation that stands alone."""
_HALF = 1e-9
"""A value as close as this to the middle of two printed ones may be rounded to either."""
RIGHT, ROUNDING, WRONG = "right", "rounding", "wrong"


class PrintedNumber(NamedTuple):
    """A number as printed. `text`: with its sign; `start`: its offset in the file."""

    text: str
    start: int

    @property
    def value(self) -> float:
        return float(self.text.replace("\N{MINUS SIGN}", "-"))

    @property
    def decimals(self) -> int:
        return len(self.text.partition(".")[2])

    @property
    def is_fraction(self) -> bool:
        """Whether the number is written as a fraction, such as `0.845`, and not in points."""
        return self.decimals > 2 and abs(self.value) <= 1

    def against(self, exact: float) -> str:
        """Return whether this is the exact value at the printed precision: `right`, `rounding` (within one
        unit of the last digit of the right one), or `wrong`. The value is in points."""
        scaled = exact / 100 if self.is_fraction and abs(exact) > 1 else exact
        unit = 10.0**-self.decimals
        gap = abs(self.value - scaled)
        if gap <= unit / 2 + _HALF:
            return RIGHT
        return ROUNDING if gap < 1.5 * unit - _HALF else WRONG

    def rounded(self, exact: float) -> str:
        """Return the exact value in the form of this number."""
        scaled = exact / 100 if self.is_fraction and abs(exact) > 1 else exact
        sign = "+" if self.text[:1] == "+" else ""
        return f"{scaled:{sign}.{self.decimals}f}"


def numbers(text: str, start: int = 0) -> list[PrintedNumber]:
    """Return the numbers of a text that begins at an offset."""
    return [PrintedNumber(match[0], start + match.start()) for match in NUMBER.finditer(text)]
