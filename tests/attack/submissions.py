"""Predictions of other systems in every form, damaged in ways that leave them readable as far as possible."""

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from pubmill.convert.hoc import HALLMARKS
from pubmill.errors import PubmillError
from pubmill.predictions.scores import score_submission
from tests.attack import attack, template
from tests.attack.sound_files import Reader
from tests.unit.predictions import toy_datasets as toy
from tests.world.dice import Dice

Damage = Callable[[Dice, str], str]


@cache
def _results(access: str = "public") -> Path:
    made = template()
    for name in toy.KINDS:
        toy.make(made, name, access=access)
    return made


def _read(dataset: str, path: Path, access: str = "public") -> Any:
    results = _results(access)
    return score_submission(path, toy.recipe(results, dataset), results)


@cache
def _contents() -> dict[str, tuple[str, str]]:
    return {
        "conll": ("ner", toy.conll()), "iobes": ("ner", toy.conll(toy.iobes)),
        "conll-ids": ("ner", toy.conll(toy.ioe, ids=True)), "pubtator": ("ner", toy.pubtator()),
        "bioc": ("ner", json.dumps(toy.bioc("ner", _results()), indent=1)),
        "bioc-xml": ("ner", toy.bioc_xml(_results())),
        "relations": ("rel", json.dumps(toy.bioc("rel", _results()), indent=1)),
        "table": ("rel", toy.blurb_tsv()), "numbered-table": ("rel", toy.indexed_tsv()),
        **{f"lines-{name}": (name, toy.jsonl(name)) for name in toy.KINDS},
        "spans": ("ner", toy.span_lines()),
    }  # fmt: skip


FORMS = {
    "predictions.conll": "conll", "predictions.txt": "pubtator", "predictions.json": "bioc",
    "predictions.xml": "bioc-xml", "predictions.tsv": "table", "spans.jsonl": "spans",
    **{f"{name}.jsonl": f"lines-{name}" for name in toy.KINDS},
}  # fmt: skip
"""Name of a file that the attack `readers` damages -> its form."""


def _lines(form: str, path: Path) -> Any:
    access = "restricted" if form == "spans" else "public"
    return _read(_contents()[form][0], path, access).submission.lines


def _content(form: str) -> str:
    return _contents()[form][1]


READERS = [Reader(name, partial(_content, form), partial(_lines, form)) for name, form in FORMS.items()]


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
ROWS = ANY | ENTRIES | {"unbalance": _unbalance}
LINES = ENTRIES | {"cut": _cut, "unbalance": _unbalance}
DAMAGES: dict[str, dict[str, Damage]] = {
    **dict.fromkeys(("conll", "iobes", "numbered-table"), ROWS | {"swap": _swap}),
    **dict.fromkeys(("conll-ids", "table"), ROWS),
    "pubtator": {**ANY, "lose": _lose, "repeat": _repeat},
    **dict.fromkeys(("bioc", "bioc-xml", "relations"), ANY),
    **{f"lines-{name}": LINES | {"leak": _leak, "spoil": _spoil} for name in toy.KINDS},
    "spans": LINES | {"shift": _shift},
}


@attack("submissions", cases=2_000, quick=30)
def _damaged_submission(dice: Dice, folder: Path) -> str:
    """Predictions of other systems in every form: cut, with lost, repeated, swapped or joined entries, other
    ids, words and labels, shifted offsets, gold in ids: refused with the reason, or listed with what was left
    aside; none is scored silently."""
    name = dice.pick(sorted(_contents()))
    dataset, content = _contents()[name]
    what = dice.pick(sorted(DAMAGES[name]))
    damaged = DAMAGES[name][what](dice, content)
    path = folder / "predictions"
    path.write_bytes(content.encode())
    expected = _read(dataset, path).submission.lines
    path.write_bytes(damaged.encode(errors="surrogatepass"))
    try:
        found = _read(dataset, path)
    except PubmillError:
        return ""
    if found.left_aside() or found.submission.lines == expected:
        return ""  # counted and listed, or the damage changed nothing
    return f"{name} with {what} was scored: {found.metrics}"
