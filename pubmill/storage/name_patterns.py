"""Patterns of the names that specs and files may have.

Names become parts of file names, wildcards of Snakemake and words of shell commands, so each kind has one
strict pattern.
"""

import re

KEY = "[a-z0-9][a-z0-9.+-]{0,99}"
"""A key of `local_files`."""
SPEC = f"{KEY}(@[a-z0-9-]{{1,50}})?"
"""A spec; after `@`, its variant."""
FILE = "[A-Za-z0-9_][A-Za-z0-9 ._+-]{0,149}"
"""A file that the user brings, or that is written for others."""
FILES = r"[A-Za-z0-9 ._+*?\[\]!-]{1,150}"
"""A pattern of such names."""
PATH = f"{FILE}(/{FILE})*"
"""A file below a folder."""
URL = "https://[A-Za-z0-9.-]+(:[0-9]+)?(/[!-~]*)?"
"""What is fetched; `Https` of the specs refuses more."""

FILE_WORDS = "letters without accents, digits, spaces and . _ + -, at most 150, the first a letter or digit"


def fits(pattern: str, name: str) -> bool:
    """Whether the whole of `name` matches one of the patterns above."""
    return re.fullmatch(pattern, name) is not None
