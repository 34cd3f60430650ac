"""The shell commands of all rules."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_SHELL = re.compile(r'^ +shell:\n((?: +"(?:[^"\\]|\\.)*"\n)+)', re.MULTILINE)


@cache
def commands() -> tuple[str, ...]:
    """Return the commands in the order of files and rules; where their lines are wrapped doesn't count."""
    texts = [path.read_text() for path in sorted((ROOT / "rules").rglob("*.smk"))]
    found = [shell for text in texts for shell in _SHELL.findall(text)]
    return tuple("".join(re.findall(r'"((?:[^"\\]|\\.)*)"\n', shell)) for shell in found)
