"""Numbers with their nouns."""

import sys
import unicodedata
from collections.abc import Callable

import pytest
from rich.text import Text

from pubmill.errors import PubmillError, run
from pubmill.messages.terminal_tables import console, table
from pubmill.messages.wording import counted, escape_controls
from pubmill.report.rendering import environment, escape_markdown, escape_tex


def test_only_one_is_singular() -> None:
    assert [counted(number, "dataset") for number in (0, 1, 2, 1000)] == [
        "0 datasets", "1 dataset", "2 datasets", "1,000 datasets"
    ]  # fmt: skip
    assert [counted(number, "hash", "hashes") for number in (1, 2)] == ["1 hash", "2 hashes"]


HOSTILE = "a\x1b[2J\x1b]0;title\x07\rb\x9bc\u202ed\u2066e\u200ff\u2028g\ufdd0h\ud800i\U0001fffe"
SHOWN = r"a\x1b[2J\x1b]0;title\x07\rb\x9bc\u202ed\u2066e\u200ff\u2028g\ufdd0h\ud800i\U0001fffe"
KEPT = "plain\ttext\nof two lines, naïve, 中文, 𝛼, soft\u00adhyphen, a\u200bb"


def test_what_acts_is_shown_as_its_code_and_all_else_stays() -> None:
    assert escape_controls(HOSTILE) == SHOWN
    assert escape_controls(KEPT) == KEPT
    assert escape_controls(SHOWN) == SHOWN


def test_every_control_surrogate_and_bidirectional_control_is_escaped() -> None:
    bidirectional = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    for number in range(sys.maxunicode + 1):
        character = chr(number)
        acts = unicodedata.category(character) in ("Cc", "Cs") and character not in "\t\n"
        if acts or unicodedata.bidirectional(character) in bidirectional:
            assert escape_controls(character).isascii(), hex(number)


def test_errors_and_printed_lists_hold_nothing_that_acts(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise PubmillError(f"found {HOSTILE}")

    with pytest.raises(SystemExit) as ended:
        run(fail)
    assert ended.value.code == f"pubmill: error: found {SHOWN}"
    to, rows = console(), table("name")
    rows.add_row(HOSTILE)
    to.print(HOSTILE, soft_wrap=True)
    to.print(Text(HOSTILE, style="red"), soft_wrap=True)
    to.print(rows)
    found = capsys.readouterr().out
    assert escape_controls(found) == found
    assert found.count(r"\x1b[2J") == 3 and found.count(r"\u202e") >= 2  # the table's is folded


@pytest.mark.parametrize("escape", [None, escape_markdown, escape_tex])
def test_reports_hold_nothing_that_acts(escape: Callable[[str], str] | None) -> None:
    made = environment(escape).from_string('{{ value }}, {{ value | e }}, {{ [value] | join(" ") }}')
    found = made.render(value=HOSTILE)
    assert escape_controls(found) == found and found.count("202e") == 3
