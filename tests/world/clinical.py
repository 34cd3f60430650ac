"""Clinical datasets with restricted access: i2b2 2010, 2012 and 2014, and MedNLI."""

import json

from tests.world import clinical_xml
from tests.world.archives import tarball
from tests.world.clinical_text import SHARES, Piece, concept
from tests.world.dice import Dice
from tests.world.lexicon import DISEASE, Lexicon, between
from tests.world.part import CANARY, Files

_SLOTS = {"%P": "problem", "%T": "treatment", "%E": "test"}
_RELATED = {
    "TrAP": ["%T was prescribed for %P .", "She takes %T daily for her %P ."],
    "TrIP": ["%P improved after %T .", "%P resolved with %T ."],
    "TrWP": ["%P worsened despite %T .", "%P progressed on %T ."],
    "TrCP": ["%P was caused by %T .", "%T induced %P ."],
    "TrNAP": ["%T was stopped because of %P .", "%T was avoided given %P ."],
    "TeRP": ["%E revealed %P .", "%E was diagnostic of %P ."],
    "TeCP": ["%E was ordered to rule out %P .", "%E is planned to evaluate %P ."],
    "PIP": ["%P is secondary to %P .", "%P was complicated by %P ."],
    "false": ["%T was continued and %P was denied .", "%E was drawn and %T was given .", "No %P , no %P ."],
}
"""Relation -> templates that relate their first two concepts in this way."""
_PLAIN = [
    f"Mr. {CANARY} was seen in clinic .", "Discharge Date :", "2019-04-02", f"He is {CANARY} 's father .",
]  # fmt: skip
_THIRD = ", and %E was normal ."
"""Added to some sentences: a third concept, unrelated to the others."""
_NOTES = {"beth": 16, "partners": 20, "test": 12}
_I2B2_2010 = "local/i2b2-2010"
Note = list[tuple[list[Piece], str | None]]
"""Lines, each with the relation of its first two concepts."""


def part(lexicon: Lexicon, seed: int) -> Files:
    xml = clinical_xml.part(lexicon, seed + 100)
    return xml | _i2b2_2010(lexicon, Dice(seed)) | _mednli(lexicon, Dice(seed + 1))


def _line(dice: Dice, names: Lexicon, template: str) -> list[Piece]:
    found = []
    for word in template.split():
        of = _SLOTS.get(word)
        found.append(Piece(concept(dice, of, names), of) if of else Piece(word))
    return found


def _note(dice: Dice, names: Lexicon) -> Note:
    """Return the lines of a note: two heading lines, an empty one, and ten sentences."""
    lines: Note = [
        ([Piece(f"Patient : {CANARY}")], None), ([Piece("Discharge Diagnosis :")], None), ([], None),
    ]  # fmt: skip
    for _ in range(10):
        if dice.chance(0.2):
            lines.append(([Piece(dice.pick(_PLAIN))], None))
            continue
        label = dice.pick(list(_RELATED))
        template = dice.pick(_RELATED[label])
        third = dice.chance(0.15)
        template = template.removesuffix(" .") + " " + _THIRD if third else template
        lines.append((_line(dice, names, template), label))
    return lines


def _i2b2_2010(lexicon: Lexicon, dice: Dice) -> Files:
    notes: dict[str, dict[str, Note]] = {}
    for group, number in _NOTES.items():
        names = between(lexicon, *SHARES["test" if group == "test" else "train"])
        form = {"beth": "record-{}", "partners": "{:09}_DH", "test": "{:04}"}[group]
        notes[group] = {form.format(place + 11): _note(dice, names) for place in range(number)}
    return {f"{_I2B2_2010}/{name}": tarball(content) for name, content in _archives(notes, dice).items()}


def _archives(notes: dict[str, dict[str, Note]], dice: Dice) -> dict[str, dict[str, bytes]]:
    train, test, texts = (
        "concept_assertion_relation_training_data", "reference_standard_for_test_data", "test_data",
    )  # fmt: skip
    found: dict[str, dict[str, bytes]] = {train: {}, test: {}, texts: {}}
    for group, of in notes.items():
        for name, note in of.items():
            text, con, rel = (content.encode() for content in _files(note, dice))
            if group == "test":
                found[test] |= {f"{test}/concepts/{name}.con": con, f"{test}/rel/{name}.rel": rel}
                found[texts][f"{texts}/{name}.txt"] = text
            else:
                folder = f"{train}/{group}"
                found[train] |= {f"{folder}/concept/{name}.con": con, f"{folder}/rel/{name}.rel": rel}
                found[train] |= {f"{folder}/ast/{name}.ast": b"", f"{folder}/txt/{name}.txt": text}
    return {f"{name}.tar.gz": dict(sorted(files.items())) for name, files in found.items()}


def _files(note: Note, dice: Dice) -> tuple[str, str, str]:
    """Return text, concepts and relations. Some lines begin with a space, which is a token."""
    text, con, rel = [], [], []
    for number, (line, label) in enumerate(note, 1):
        blank = bool(line) and dice.chance(0.1)
        token = int(blank)
        places = []
        for piece in line:
            size = len(piece.text.split())
            if piece.type:
                place = f"{number}:{token} {number}:{token + size - 1}"
                places.append(f'c="{piece.text.lower()}" {place}')
                con.append(f'{places[-1]}||t="{piece.type}"\n')
            token += size
        if label and label != "false":
            rel.append(f'{places[0]}||r="{label}"||{places[1]}\n')
        text.append(" " * blank + (" " if dice.chance(0.9) else "  ").join(piece.text for piece in line))
    return "\n".join(text) + "\n", "".join(con), "".join(rel)


_CLAIMS = {
    "entailment": ["The patient has a disease .", "The patient has %D ."],
    "neutral": ["The patient may be a smoker .", "The mother of the patient may have %O ."],
    "contradiction": ["The patient never had any disease .", "The patient never had %D ."],
}
_ROWS = {"train": 240, "dev": 60, "test": 80}


def _mednli(lexicon: Lexicon, dice: Dice) -> Files:
    files = {}
    for split, number in _ROWS.items():
        names = between(lexicon, *SHARES.get(split, SHARES["test"]))[DISEASE]
        labels = [dice.pick(list(_CLAIMS)) for _ in range(number)]
        rows = []
        for place, label in enumerate(labels):
            disease, other = (one.name for one in dice.sample(names, 2))
            claim = dice.pick(_CLAIMS[label]).replace("%D", disease).replace("%O", other)
            row = {
                "sentence1": f"{CANARY} is a patient with {disease} and {other}\tsince\u00a02019 .",
                "pairID": f"{split}-{place:04}", "sentence1_parse": f"(ROOT (NN {CANARY}))",
                "sentence2": claim, "gold_label": label,
            }  # fmt: skip
            rows.append(json.dumps(row, ensure_ascii=False) + "\n")
        files[f"local/mednli/mli_{split}_v1.jsonl"] = "".join(rows).encode()
    return files
