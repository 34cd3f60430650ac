"""Attacks on the structure of proofs: any field of any record is changed, deleted, added, retyped or
renumbered, with hashes that fit; and scores are raised with tables that a forger made to follow from them."""

import copy
import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pubmill.extras.proof.archive import as_gzip
from pubmill.extras.proof.verifier.cells import Builder, read_published
from pubmill.extras.proof.verifier.container import SUMS, pack, sums, unpack
from pubmill.extras.proof.verifier.forms import Stated
from pubmill.storage.result_paths import BELOW
from tests.attack import Attack
from tests.attack.running import template
from tests.unit.extras.proof import toy_proof
from tests.unit.extras.proof.proof_attacks import answer
from tests.world.dice import Dice

SHOWN = f"tables/{toy_proof.TABLE}.json.gz"
BASIS = f"tables/{toy_proof.TABLE}.basis.json.gz"
STATED = frozenset(
    "study title pubmill commit numpy open_datasets versions trained_on_sha256 record_sha256 made_by recipes "
    "contributions_sha256 unit id missing why seconds packages hardware pipelines silences floors found "
    "left_out".split()
)
"""Fields that a proof states and nothing else follows from (docs/proof.md)."""
RAISED = 0.99


@cache
def honest(alone: bool) -> dict[str, Any]:
    """Return the members of an honest proof, JSON parsed; `alone`: with one model, so without comparisons."""
    models = ("ours",) if alone else toy_proof.MODELS
    data = (toy_proof.make(template(), models) / BELOW.proof("toy")).read_bytes()
    members = unpack(data)
    return {name: toy_proof.read(members, name) if "json" in name else one for name, one in members.items()}


def packed(members: dict[str, Any]) -> bytes:
    """Return the archive, with sums that fit."""
    found = {name: as_gzip(one) if name.endswith("json.gz") else one for name, one in members.items()}
    return pack({**found, SUMS: sums(found)})


def fields_in(content: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the containers and keys of all fields that are not only stated."""
    for key, value in list(content.items() if isinstance(content, dict) else enumerate(content)):
        if key not in STATED:
            yield content, key
            if isinstance(value, dict | list) and key != "subword_labels":  # several spell the same mentions
                yield from fields_in(value)


def changed(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool) or value is None:
        return not value if value is not None else "forged"
    if isinstance(value, int | float):
        return value + (1 if isinstance(value, int) else 0.01)
    if isinstance(value, str):
        return f"B-{value}0"
    return [*value, changed(value[0])] if isinstance(value, list) and value else [1]


def forge(dice: Dice, holder: Any, key: Any) -> str:
    """Change one field; return what was done."""
    value = holder[key]
    act = dice.pick(["change", "delete", "add", "retype", "renumber"])
    if act == "delete":
        del holder[key]
    elif act == "add" and isinstance(holder, dict):
        holder["forged"] = 1
    elif act == "add":
        holder.insert(key, {"forged": 1})
    elif act == "retype":
        holder[key] = [value] if dice.chance(0.5) else None if value is not None else 0
    elif act == "renumber" and isinstance(value, int | float):
        holder[key] = dice.pick([-1, 999, value + 2, "x"])
    elif isinstance(value, dict):
        holder[key] = {"forged": 1}
    else:
        holder[key] = changed(value)
    return f"{act} {key}"


def forged_field(dice: Dice, folder: Path) -> str:
    """Forge one field of one member."""
    members = copy.deepcopy(honest(dice.chance(0.3)))
    name = dice.pick(sorted(one for one in members if one.endswith("json.gz")))
    if dice.chance(0.6):
        name = dice.pick(["study.json.gz", "runs.json.gz", SHOWN, BASIS])
    before = as_gzip(members[name])
    done = forge(dice, *dice.pick(list(fields_in(members[name]))))
    said = "" if as_gzip(members[name]) == before else answer(packed(members), folder)
    return said and f"{name}, {done}: {said}"


def consistent(members: dict[str, Any]) -> None:
    """Make the table follow from the metrics, as a forger would."""
    runs, recipe, shown = members["runs.json.gz"]["runs"], members[BASIS]["recipe"], members[SHOWN]

    def score(record: str, metric: str) -> tuple[float | None, str | None, bool]:
        run = runs.get(record)
        return (None, "no record", False) if run is None else (100 * run["metrics"][metric], None, False)

    content = members[f"published/{toy_proof.TABLE}.csv"]
    built = Builder(recipe, read_published(content, {}, ""), score, shown["cells"], {})
    for column, rows in built.cells.items():
        for row, cell in rows.items():
            shown["cells"][column][row] = told(built.as_shown(cell), shown["cells"][column][row])
    shown["seeds_needed"] = built.seeds_needed()
    shown["provenance"]["runs"] = sum(len(c["seeds"]) for r in built.cells.values() for c in r.values())


def told(found: Any, old: Any) -> Any:
    """Return a recomputed value with what is only stated taken from the old one, or made up."""
    if isinstance(found, Stated):
        return old if old is not None else "none" if str in (found.form, *(found.form or ())[:1]) else None
    if isinstance(found, dict):
        return {key: told(one, old.get(key) if isinstance(old, dict) else None) for key, one in found.items()}
    if isinstance(found, list | tuple):
        olds = old if isinstance(old, list) else []
        return [told(one, olds[n] if n < len(olds) else None) for n, one in enumerate(found)]
    return found


def raise_metrics(run: dict[str, Any], dice: Dice) -> None:
    run["metrics"] = {name: RAISED + 0.001 * dice.below(9) for name in run["metrics"]}


def forged_score(dice: Dice, folder: Path) -> str:
    """Raise the scores of runs on a dataset, hide them from the counts by a lie in the structure, and make
    the table follow."""
    members = copy.deepcopy(honest(True))
    content, recipe = members["runs.json.gz"], members[BASIS]["recipe"]
    dataset = dice.pick(sorted(toy_proof.ROWS))
    own = [path for path in content["runs"] if f"/{dataset}/" in path]
    number = content["runs"][own[0]]["set"]
    lie = dice.pick([*LIES])
    for path in own:
        run = content["runs"][path]
        if lie not in ("dropped seeds", "same run thrice"):
            raise_metrics(run, dice)
        if lie == "set":
            run["set"] = dice.pick([999, -1, "x", None, True, 1.5, len(content["sets"])])
        elif lie == "place":
            run["place"] = dice.pick([999, -1, "x", None, 0])
        elif lie == "other set":
            run["set"] = (number + 1) % len(content["sets"])
        elif lie == "no set":
            run.pop("set")
    rows = recipe["records"]["ours"]
    if lie == "set" and number == len(content["sets"]) - 1:
        gone = content["sets"].pop()  # nothing of the true counts is left
        for member in (gone["counts"], gone["gold"], *(content["runs"][path]["items"] for path in own)):
            members.pop(member, None)
        for path in own:
            content["runs"][path]["items"] = None
    if lie == "no sets":
        content["sets"] = []
    elif lie == "set without runs":
        content["sets"].append({**content["sets"][number], "dataset": "forged"})
    elif lie == "copied set":
        content["sets"].append(content["sets"][number])
    elif lie == "own record":
        path = own[0].replace("/ours/", "/theirs/")
        content["runs"][path] = content["runs"].pop(own[0])
        rows[dataset][0] = path
    elif lie == "dropped seeds":
        rows[dataset] = rows[dataset][:1]
    elif lie == "same run thrice":
        rows[dataset] = rows[dataset][:1] * 3
    elif lie == "other dataset":
        other = dice.pick(sorted(name for name in toy_proof.ROWS if name != dataset))
        rows[dataset] = rows[other]
    elif lie == "no tables":
        members["study.json.gz"]["tables"] = {}
    try:
        consistent(members)
    except (KeyError, TypeError, ValueError):
        pass  # no table follows from this lie, so the forger leaves the old one
    except Exception as error:
        if "Refused" not in type(error).__name__:
            raise
    said = answer(packed(members), folder)
    return said and f"{lie}, {dataset}: {said}"


LIES = (
    "set", "place", "other set", "no set", "no sets", "set without runs", "copied set", "own record",
    "dropped seeds", "same run thrice", "other dataset", "no tables", "none",
)  # fmt: skip


def forged_spelling(dice: Dice, folder: Path) -> str:
    """Write a value of a member twice, as NaN or with other blanks, or add, remove or rename a member."""
    members = {name: as_gzip(one) if name.endswith("json.gz") else one for name, one in honest(True).items()}
    name = dice.pick(sorted(one for one in members if one.endswith("json.gz")))
    text = json.dumps(honest(True)[name], sort_keys=True, separators=(",", ":"))
    act = dice.pick(["twice", "nan", "blank", "bomb", "surplus", "removed", "renamed", "after"])
    if act in ("twice", "nan", "blank"):
        pairs = {"twice": ('{"', '{"forged":1,"forged":2,"'), "nan": (":0", ":NaN"), "blank": (",", ", ")}
        text = text.replace(*pairs[act], 1) if pairs[act][0] in text else f" {text}"
        members[name] = packed_text(text.encode())
    elif act == "bomb":
        members[name] = packed_text(b"[" + b"[]," * 11_000_000 + b"[]]")
    elif act == "after":
        members[name] += members[name]
    elif act == "surplus":
        members[f"{name}.more"] = members[name]
    elif act == "renamed":
        members[f"x/{name}"] = members.pop(name)
    else:
        members.pop(dice.pick(sorted(one for one in members if one not in ("README.md", SUMS))))
    said = answer(pack({**members, SUMS: sums(members)}), folder)
    return said and f"{name}, {act}: {said}"


def packed_text(content: bytes) -> bytes:
    return gzip.compress(content, 1, mtime=0)


ATTACKS = (
    Attack(
        name="proof-structure",
        fault="a field of a record of a proof is changed, deleted, added, retyped or renumbered; hashes fit",
        survived="verify.py refuses the proof",
        case=forged_field,
        cases=3_000,
        quick=20,
    ),
    Attack(
        name="proof-scores",
        fault="scores are raised and hidden from the counts: runs, sets and records are misnumbered, left "
        "out, repeated or swapped; cells, verdicts and hashes follow from the forged scores",
        survived="verify.py refuses the proof",
        case=forged_score,
        cases=1_000,
        quick=20,
    ),
    Attack(
        name="proof-spellings",
        fault="JSON of a proof with repeated keys, NaN or 11 million values; members added, lost or renamed",
        survived="verify.py refuses the proof",
        case=forged_spelling,
        cases=500,
        quick=10,
    ),
)
