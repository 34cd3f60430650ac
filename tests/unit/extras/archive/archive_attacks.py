"""Attacks on the archive of a study, survived if `pubmill verify` names a difference or refuses it."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from pubmill.errors import PubmillError
from pubmill.extras.archive.verification import verify
from pubmill.hardware import provenance
from pubmill.metrics.contributions import Contributions, Items, read_items, write_items
from tests.attack import attack, flipped, template
from tests.unit.extras.archive import toy_study as toy
from tests.world.dice import Dice

Members = dict[str, bytes]
COMMIT = mock.patch.object(provenance, "commit", lambda *_: "c" * 40)
STATED_OF_ALL = {"scored_with"}
"""Keys of records that nothing in an archive can confirm."""
STATED_OF_CLOSED = {
    "dev_score", "dev_split", "encoded", "max_length", "python", "hardware", "trained_on_sha256", "packages",
    "commit",
}  # fmt: skip
"""The same of records without predictions."""
COPIED = {
    "seed", "model", "recipe", "failed", "dev_split", "max_length", "encoded", "model_sha256", "commit",
    "packages", "python", "hardware", "seconds", "data_sha256",
}  # fmt: skip
"""Keys of training reports that records repeat."""


@cache
def honest() -> tuple[Path, Members]:
    folder = template()
    with COMMIT:
        archive = toy.make(folder)
        assert verify(archive, folder / "checkout").different == []
    return folder / "checkout", toy.members_of(archive)


def noticed(members: Members, folder: Path, what: str) -> str:
    """Return `what`, which begins with a member, unless an archive of these members is refused, or a
    difference or a strange member is named."""
    archive = toy.write(members, folder / "toy.archive.zip")
    with suppress(PubmillError), COMMIT:
        study = verify(archive, honest()[0])
        is_named = any(note.startswith(f"{what.split()[0]}: of the authors") for note in study.notes)
        return "" if study.different or is_named else f"not noticed: {what}"
    return ""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from places(inner, (*path, key))


def is_stated(name: str, path: tuple[Any, ...]) -> bool:
    """Return whether nothing in the archive can confirm a value, or it is a digest that is made to fit."""
    if path[0] in ("content_sha256", "predictions_sha256"):
        return True
    if name.endswith(".training.json"):
        return path[0] not in COPIED and path[:2] != ("dev", "best")
    if "/runs/" in name:
        return path[0] in STATED_OF_ALL | (STATED_OF_CLOSED if f"/{toy.SECRET}/" in name else set())
    return False


def changed(dice: Dice, value: Any) -> Any:
    if dice.chance(0.2):
        others: tuple[Any, ...] = (None, "x", 7, [], {}, True)
        return dice.pick([one for one in others if json.dumps(one) != json.dumps(value)])
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + dice.pick((1, -1, 10))
    if isinstance(value, float):
        return value + 0.001 * max(abs(value), 0.001)
    if isinstance(value, str):
        return f"{value}x"
    return {**value, "added": 1} if isinstance(value, dict) else [*value, 1]


@attack("archive-values", cases=3_000, quick=10)
def forged_value(dice: Dice, folder: Path) -> str:
    """One value of an archive's records, training reports, tables, comparisons, statement or metadata is
    changed, removed, added or of another type; all digests fit."""
    members = dict(honest()[1])
    name = dice.pick(sorted(one for one in members if one.endswith(".json")))
    value = json.loads(members[name])
    path = dice.pick([one for one in places(value) if not is_stated(name, one)])
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    if dice.chance(0.2) and isinstance(holder, dict):
        del holder[path[-1]]
    else:
        holder[path[-1]] = changed(dice, holder[path[-1]])
    members[name] = json.dumps(value).encode()
    return noticed(toy.fitted(members), folder, f"{name}, {path}")


def forged_npz(dice: Dice, content: bytes, folder: Path) -> bytes:
    path = folder / "one.items.npz"
    path.write_bytes(content)
    items = read_items(path)
    assert items.contributions
    names, values = items.contributions.names, items.contributions.values.copy()
    values[dice.below(len(values)), dice.below(len(names))] += dice.pick((1.0, -1.0, 0.5))
    write_items(path, Items(*items[:3], Contributions(names, values)))
    return path.read_bytes()


def forged_rows(dice: Dice, content: bytes, folder: Path) -> bytes:
    """Change the label, labels or score of one line of predictions or examples, or lose or repeat a line."""
    lines = toy.rows(content)
    one = dice.pick(lines)
    if dice.chance(0.2):
        lines.remove(one)
    elif dice.chance(0.2):
        lines.append(one)
    elif "labels" in one:
        place = dice.below(len(one["labels"]))
        one["labels"][place] = "B" if one["labels"][place] == "O" else "O"
    elif "label" in one:
        one["label"] = dice.pick([other for other in toy.LABELS if other != one["label"]])
    else:
        one["score"] += 0.25
    return toy.packed(lines)


def forged_text(dice: Dice, content: bytes, folder: Path) -> bytes:
    place = dice.below(len(content))
    other = dice.pick([bytes([one]) for one in b"0123456789ax \n" if one != content[place]])
    return content[:place] + other + content[place + dice.below(2) :]


@attack("archive-files", cases=1_000, quick=8)
def forged_file(dice: Dice, folder: Path) -> str:
    """A prediction, example or contribution of an archive, or a character of its texts and specs, is changed;
    all digests fit."""
    members = dict(honest()[1])
    kinds: dict[str, Callable[[Dice, bytes, Path], bytes]] = {".npz": forged_npz, ".gz": forged_rows}
    names = sorted(one for one in members if not one.endswith(".json") and one != "SHA256SUMS")
    name = dice.pick(names)
    members[name] = kinds.get(Path(name).suffix, forged_text)(dice, members[name], folder)
    return noticed(toy.fitted(members), folder, name)


def records(members: Members) -> list[str]:
    return sorted(one for one in members if one.endswith(("/seed-1.json", "/seed-2.json")))


def swapped(dice: Dice, members: Members) -> str:
    """Exchange the files of two runs, or one file of them."""
    first, second = (one.removesuffix(".json") for one in dice.sample(records(members), 2))
    there = sorted({one.removeprefix(first) for one in members if one.startswith(first)})
    chosen = there if dice.chance(0.5) else [dice.pick(there)]
    for ending in chosen:
        pair = members.pop(first + ending), members.pop(second + ending, None)
        members[second + ending] = pair[0]
        members |= {} if pair[1] is None else {first + ending: pair[1]}
    return f"{first} and {second} exchanged: {chosen}"


def renumbered(dice: Dice, members: Members) -> str:
    """Give a run another seed, in its place or beside it, in file names and fields."""
    name = dice.pick(sorted(one for one in members if one.endswith("/seed-1.json")))
    new = dice.pick(("2", "3"))
    for one in [one for one in members if one.startswith(name.removesuffix(".json"))]:
        content = members[one] if dice.chance(0.5) else members.pop(one)
        if one.endswith(".json"):
            content = json.dumps(json.loads(content) | {"seed": int(new)}).encode()
        members[one.replace("/seed-1", f"/seed-{new}")] = content
    return f"{name} as seed {new}"


def lost(dice: Dice, members: Members) -> str:
    name = dice.pick(sorted(members))
    del members[name]
    return f"{name} lost"


def added(dice: Dice, members: Members) -> str:
    name = dice.pick(sorted(members))
    new = dice.pick((f"{name}.old", f"more/{name}", "verify.py", "specs/models/third.yaml", f"{name[:-1]}"))
    members[new] = members[name]
    return f"{new} added"


def renamed(dice: Dice, members: Members) -> str:
    name = dice.pick(sorted(members))
    members[f"{name}x"] = members.pop(name)
    return f"{name} renamed"


def without_a_run(dice: Dice, members: Members) -> str:
    """Lose a run with all its files and its mention in the statement."""
    name = dice.pick(records(members))
    for one in [one for one in members if one.startswith(name.removesuffix(".json"))]:
        del members[one]
    statement = json.loads(members["archive.json"])
    del statement["recipe"]["records"][name.removeprefix("results/toy/")]
    members["archive.json"] = json.dumps(statement).encode()
    return f"{name} removed with its mention"


def raised(dice: Dice, members: Members) -> str:
    """Raise the main score of a record, with its counts, and the seed's value in the table."""
    name = dice.pick(records(members))
    record = json.loads(members[name])
    record["metrics"][record["metric"]] += 0.01
    record["counts"] = {key: value + 1 for key, value in record["counts"].items()}
    members[name] = json.dumps(record).encode()
    place = f"results/toy/{toy.TABLE_FILE}"
    table = json.loads(members[place])
    cell = table["cells"][record["model"]][record["dataset"]]
    for seed in cell["seeds"]:
        if name.endswith(seed["record"]):
            seed["value"] += 1
            cell["value"] += 0.5
    members[place] = json.dumps(table).encode()
    return f"{name} raised, and its cell"


STRUCTURE = (swapped, renumbered, lost, added, renamed, without_a_run, raised)


@attack("archive-structure", cases=1_000, quick=10)
def forged_structure(dice: Dice, folder: Path) -> str:
    """Runs of an archive are exchanged, renumbered or removed, scores raised, members lost, added or renamed;
    all digests fit."""
    members = dict(honest()[1])
    what = dice.pick(STRUCTURE)(dice, members)
    return noticed(toy.fitted(members), folder, what)


@attack("archive-bytes", cases=500, quick=10)
def flipped_bit(dice: Dice, folder: Path) -> str:
    """One bit of an archive's zip is flipped: a difference is named, or all members are read as before."""
    archive = toy.write(honest()[1], folder / "toy.archive.zip")
    archive.write_bytes(flipped(archive.read_bytes(), dice))
    with suppress(PubmillError), COMMIT:
        study = verify(archive, honest()[0])
        if not study.different and toy.members_of(archive) != honest()[1]:
            return "it is not noticed"
    return ""
