"""YAML that no spec should be: made of hostile pieces, or a sound spec damaged."""

import re
from pathlib import Path

from pubmill.specs import strict_yaml
from tests.attack import attack
from tests.conftest import ROOT
from tests.damage import damage
from tests.world.dice import Dice

MESSAGE = re.compile(r"x\.yaml:[0-9]+: [^\n]{5,400}")
SCALARS = (
    "1", "-0", "0x1F", "0b2", "1_000", "12:30:45", "9" * 5_000, "1e999", "1e-5", ".nan", "-.inf", "~",
    "yes", "2024-99-99",
    "2001-12-14t21:59:43.10-05:00", "!!int x", "!!float [1]", "!!bool maybe", "!!null x", "!!binary '%'",
    "!!timestamp x",
    "!!python/object/apply:os.system [id]", "!!python/name:os.system", "!mine x",
    "!<tag:yaml.org,2002:str> x",
    '"\\x1b[2J"', '"\\u202e"', '"\\ud800"', '"\\U00110000"', "'a", '"b', "|\n  text", ">-\n\n", "@", "`",
    "%", "*", "&", "&a", "*a",
    "*b", "<<", "? a", "- a", "[", "]", "{", "}", "[a, *a]", "{a: 1, a: 2}", "{[a]: 1}", "{{a: 1}: 2}",
    "{? !x y : z}", "[]", "{}",
    "\0", "\x07", "\x85", "\u2028", "\ufeff", "\ufdd0", "\ufffe", "\U0001ffff", "\t", "#", ": :",
    "a: b: c", "--- ", "...", "\r",
)  # fmt: skip
KEYS = (
    "a", "b", "include", "name", "<<", "? [a]", "? {a: 1}\n", "!!str a", "!x a", "&a a", "*a", "1", "yes",
    "~", "", "2024-01-01", ".nan",
)  # fmt: skip
ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "utf-7", "cp037")


def _block(dice: Dice, depth: int) -> str:
    lines = []
    for _ in range(dice.between(1, 4)):
        anchor = dice.pick(["", "", "", "&a ", "&b "])
        if depth < 4 and dice.chance(0.4):
            inner = _block(dice, depth + 1).replace("\n", "\n  ")
            lines.append(f"{dice.pick(KEYS)}: {anchor}\n  {inner}")
        else:
            lines.append(f"{dice.pick(KEYS)}: {anchor}{dice.pick(SCALARS)}")
    return "\n".join(lines)


def _deep(dice: Dice) -> str:
    depth = dice.pick([39, 500])
    opening, closing = dice.pick([("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")])
    return "a:\n " + opening * depth + closing * dice.pick([0, depth])


def _damaged_spec(dice: Dice) -> bytes:
    spec = dice.pick(sorted((ROOT / "specs").rglob("*.yaml")))
    content = spec.read_bytes()
    for _ in range(dice.between(1, 4)):
        content = damage(content, dice).content or b"a"
    return content


def _content(dice: Dice) -> bytes:
    kind = dice.below(50)
    if kind < 15:
        return _damaged_spec(dice)
    text = _deep(dice) if kind < 20 else _block(dice, 0)
    return text.encode(dice.pick(ENCODINGS), "replace")


@attack("yaml", cases=3_000, quick=60)
def _case(dice: Dice, folder: Path) -> str:
    """Hostile YAML (tags, aliases, depth, merge keys, encodings, control characters), damaged specs: a value,
    or messages of one line each with file and line."""
    path = folder / "x.yaml"
    path.write_bytes(_content(dice))
    errors: list[str] = []
    document = strict_yaml.read(path, "x.yaml", errors)
    odd = [error for error in errors if not MESSAGE.fullmatch(error)]
    if odd:
        return f"not one line with file and line: {odd[0]!r:.200}"
    if not isinstance(document.value, dict):
        return f"a {type(document.value).__name__} instead of keys with values"
    lost = [at for at in document.lines if not document.where(at).startswith("x.yaml:")]
    return f"no line for {lost[0]!r}" if lost else ""
