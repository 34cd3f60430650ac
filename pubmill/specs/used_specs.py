"""Specs of a study: a mistake in a spec that it doesn't use doesn't stop it."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pubmill.messages.progress import report_progress
from pubmill.specs.loading import Specs, load
from pubmill.specs.spec_faults import SpecFaultsError

_FILE = re.compile(r"'?(?P<path>[^/]+/(?P<kind>[^/]+)/(?P<name>.+?)\.yaml)'?:")
"""Beginning of a line on a mistake."""


def load_used(folder: Path, scale: str, used: Mapping[str, tuple[str, ...]]) -> Specs:
    """Return the specs at a scale without those that have mistakes, which are reported, if nothing used
    depends on them; else raise the error on all mistakes.

    `used`: kind -> names that a study uses by themselves. What these refer to is used, too, and so are models
    that name one of the tables.
    """
    without: frozenset[str] = frozenset()
    mistakes: list[str] = []
    while True:
        try:
            specs = load(folder, scale, without)
        except SpecFaultsError as error:
            mistakes += error.lines
            matches = [_FILE.match(line) for line in error.lines]
            if not all(one and not _is_used(folder, one, used) for one in matches):
                raise SpecFaultsError(folder, mistakes) from None
            without |= {one["path"] for one in matches if one}
        else:
            _report(tuple(mistakes))
            return specs


def _is_used(folder: Path, match: re.Match[str], used: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether a study uses a spec with a mistake by itself; a scale is used by all."""
    if match["kind"] == "models" and (path := folder.parent / match["path"]).is_file():
        text = path.read_text(encoding="utf-8", errors="replace")  # which may be no YAML
        if any(table in text for table in used["tables"]):
            return True
    return match["kind"] == "scales" or match["name"] in used.get(match["kind"], ())


@cache
def _report(lines: tuple[str, ...]) -> None:
    """Report files with mistakes that a study doesn't use, by their first mistake, once in a process."""
    by_file: dict[str, list[str]] = {}
    for line in lines:
        by_file.setdefault(line.partition(".yaml")[0], []).append(line)
    for mistakes in by_file.values():
        more = f" and {len(mistakes) - 1} more" if len(mistakes) > 1 else ""
        report_progress(f"left out, and not used by the study: {mistakes[0]}{more}")
