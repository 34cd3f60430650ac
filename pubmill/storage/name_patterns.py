"""Patterns of valid names of specs and files.

Names become parts of file names, wildcards of Snakemake and arguments of shell commands, so each kind has one
strict pattern.
"""

import re

KEY = "[a-z0-9][a-z0-9.+-]{0,99}"
"""A key of `local_files`."""
SPEC = f"{KEY}(@[a-z0-9-]{{1,50}})?"
"""The name of a spec; its variant follows `@`."""
TABLE = "table0*[1-9][0-9]*"
"""The name of a table, by its number in the paper."""
FACT_TABLE = "(table|section)0*[1-9][0-9]*"
"""The name of a table of facts, by its number, or by that of the section whose text has its values."""
FILE = "[A-Za-z0-9_][A-Za-z0-9 ._+-]{0,149}"
"""A file name of the user's, or of a file that is written for others."""
FILES = r"[A-Za-z0-9 ._+*?\[\]!-]{1,150}"
"""A glob pattern of such names."""
PATH = f"{FILE}(/{FILE})*"
"""A path of a file below a folder."""
HUB_ID = "[A-Za-z0-9][A-Za-z0-9._-]{0,95}(/[A-Za-z0-9][A-Za-z0-9._-]{0,95})?"
"""The id of a model on the Hugging Face hub."""
URL = "https://[A-Za-z0-9.-]+(:[0-9]+)?(/[!-~]*)?"
"""A URL to fetch; `Https` in the specs is stricter."""

STUDY = "[a-z0-9-]+"
"""The name of a study."""
FOLDER = r"[^-{}\x00-\x1f][^{}\x00-\x1f]*"
"""A path that no program takes for an option, and no rule for a pattern."""

FILE_WORDS = "letters without accents, digits, spaces and . _ + -, at most 150, the first a letter or digit"
_KEY_WORDS = "lower-case letters, digits and . + -, at most 100, the first a letter or digit"
WORDS = {
    KEY: _KEY_WORDS,
    SPEC: f"{_KEY_WORDS}; then perhaps @ and a variant of lower-case letters, digits and -",
    FILE: FILE_WORDS,
    STUDY: "lower-case letters, digits and -",
    FOLDER: "a path without { or }, whose first character is not -",
}
"""Pattern -> its description in messages."""


def fits(pattern: str, name: str) -> bool:
    """Return whether all of `name` matches one of the patterns above."""
    return re.fullmatch(pattern, name) is not None
