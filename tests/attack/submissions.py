"""Predictions of other systems in every form, damaged in ways that leave them readable as far as possible."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from pubmill.convert.hoc import HALLMARKS
from pubmill.errors import PubmillError
from pubmill.predictions.scores import score_submission
from tests.attack import Attack
from tests.unit.predictions import toy_datasets as toy
from tests.world.dice import Dice

Damage = Callable[[Dice, str], str]


@cache
def _contents(results: Path) -> dict[str, tuple[str, str]]:
    """Return undamaged files: name -> dataset and content."""
    for name in toy.KINDS:
        toy.make(results, name)
    return {
        "conll": ("ner", toy.conll()),
        "iobes": ("ner", toy.conll(toy.iobes)),
        "conll-ids": ("ner", toy.conll(toy.ioe, ids=True)),
        "pubtator": ("ner", toy.pubtator()),
        "bioc": ("ner", json.dumps(toy.bioc("ner", results), indent=1)),
        "bioc-xml": ("ner", toy.bioc_xml(results)),
        "relations": ("rel", json.dumps(toy.bioc("rel", results), indent=1)),
        "table": ("rel", toy.blurb_tsv()),
        "numbered-table": ("rel", toy.indexed_tsv()),
        **{f"lines-{name}": (name, toy.jsonl(name)) for name in toy.KINDS},
        "spans": ("ner", toy.span_lines()),
    }


def _cut(dice: Dice, text: str) -> str:
    return text[: dice.between(1, len(text) - 1)]


def _gap(dice: Dice, text: str) -> str:
    """Remove a piece with at least one line end, so that what it joins was not together."""
    lines = text.splitlines(keepends=True)
    first = dice.below(max(1, len(lines) - 4))
    last = min(len(lines) - 1, first + dice.between(1, 3))
    kept = lines[first][: dice.below(max(1, len(lines[first]) - 1))] + lines[last][-dice.between(2, 6) :]
    return "".join([*lines[:first], kept, *lines[last + 1 :]])


def _blocks(text: str) -> tuple[str, list[str]]:
    """Return the separator and the entries of a file."""
    separator = "\n\n" if "\n\n" in text else "\n"
    return separator, text.split(separator)


def _lose(dice: Dice, text: str) -> str:
    separator, entries = _blocks(text)
    entries.pop(dice.below(len(entries) - 1))
    return separator.join(entries)


def _repeat(dice: Dice, text: str) -> str:
    separator, entries = _blocks(text)
    place = dice.below(len(entries) - 1)
    return separator.join([*entries[:place], entries[place], *entries[place:]])


def _swap(dice: Dice, text: str) -> str:
    separator, entries = _blocks(text)
    one, other = dice.sample(range(1, len(entries) - 1), 2)
    entries[one], entries[other] = entries[other], entries[one]
    return separator.join(entries)


def _rename(dice: Dice, text: str) -> str:
    """Change a label everywhere, or a word or an id once, into one that the dataset lacks."""
    names = [name for name in ("Disease", "Chemical", "activates", "blocks", *HALLMARKS) if name in text]
    if names and dice.chance(0.5):
        name = dice.pick(names)
        return text.replace(name, name[:-1])
    words = ("fever", "assays", "drug7", "gene4", "aspirin", "test-000003")
    things = [word for word in words if word in text]
    if not things:
        return text.replace('"id": "', '"id": "x', 1)
    word = dice.pick(things)
    return text.replace(word, word[1:], 1)


def _spoil(dice: Dice, text: str) -> str:
    place = dice.below(len(text))
    pieces = ["\0", "\ud800", "\n{", "</x>", '"'][: 5 if "<" in text else 2]
    return text[:place] + dice.pick(pieces) + text[place:]


def _shift(dice: Dice, text: str) -> str:
    """Shift every offset."""
    by = dice.between(1, 3)
    lines = []
    for line in text.splitlines(keepends=True):
        row: Any = json.loads(line)
        for one in row.get("mentions", ()):
            one["start"], one["end"] = one["start"] + by, one["end"] + by
        lines.append(json.dumps(row) + "\n")
    return "".join(lines)


def _leak(dice: Dice, text: str) -> str:
    rows = [json.loads(line) for line in text.splitlines()]
    for row in rows:
        [gold] = row.keys() - {"id"}
        row["id"] = f"{row['id']}{dice.pick(['_', ':', ''])}{row[gold]}" if dice.chance(0.9) else row["id"]
    return toy.jsonl_of(rows)


def _unbalance(dice: Dice, text: str) -> str:
    """Drop or add a label, a column or a key in one entry."""
    if text.startswith("{"):
        return text.replace('{"id"', dice.pick(['{"gold": "x", "id"', '{"output": "x", "id"', '{"ID"']), 1)
    lines = text.splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if "\t" in line]
    place = dice.pick(places)
    cells = lines[place].rstrip("\n").split("\t")
    lines[place] = "\t".join(dice.pick([cells[:-1], [*cells, "x"], cells[1:]])) + "\n"
    return "".join(lines)


ANY: dict[str, Damage] = {"cut": _cut, "rename": _rename, "spoil": _spoil}
ENTRIES: dict[str, Damage] = {"lose": _lose, "repeat": _repeat, "gap": _gap}
_TEXTS = ("conll", "iobes", "numbered-table")
DAMAGES: dict[str, dict[str, Damage]] = {
    **{name: {**ANY, **ENTRIES, "swap": _swap, "unbalance": _unbalance} for name in _TEXTS},
    "conll-ids": {**ANY, **ENTRIES, "unbalance": _unbalance},
    "pubtator": {**ANY, "lose": _lose, "repeat": _repeat},
    "table": {**ANY, **ENTRIES, "unbalance": _unbalance},
    "blurb": {**ANY, **ENTRIES},
    **dict.fromkeys(("bioc", "bioc-xml", "relations"), ANY),
    **{
        f"lines-{name}": {"cut": _cut, **ENTRIES, "leak": _leak, "unbalance": _unbalance, "spoil": _spoil}
        for name in toy.KINDS
    },
    "spans": {"cut": _cut, **ENTRIES, "shift": _shift, "unbalance": _unbalance},
}


def _damaged_submission(dice: Dice, folder: Path) -> str:
    contents = _contents(folder.parent / "submissions")
    results = folder.parent / "submissions"
    name = dice.pick(sorted(contents))
    dataset, content = contents[name]
    what = dice.pick(sorted(DAMAGES[name]))
    damaged = DAMAGES[name][what](dice, content)
    path = folder / "predictions"
    recipe = toy.recipe(results, dataset)
    path.write_bytes(content.encode())
    expected = score_submission(path, recipe, results).submission.lines
    path.write_bytes(damaged.encode(errors="surrogatepass"))
    try:
        found = score_submission(path, recipe, results)
    except PubmillError:
        return ""
    if found.left_aside() or found.submission.lines == expected:
        return ""  # counted and listed, or the damage changed nothing
    return f"{name} with {what} was scored: {found.metrics}"


ATTACKS = (
    Attack(
        name="submissions",
        fault="predictions of other systems in every form: cut, with lost, repeated, swapped or joined "
        "entries, other ids, words and labels, shifted offsets, gold in ids",
        survived="refused with the reason, or listed with what was left aside; none is scored silently",
        case=_damaged_submission,
        cases=2_000,
        quick=30,
    ),
)
