"""i2b2 notes in XML (2012: events and times, 2014: personal data), with the peculiarities of the releases."""

from xml.sax.saxutils import escape, unescape

from tests.world.archives import tarball
from tests.world.clinical_text import SHARES, Lines, Piece, concept, pieces
from tests.world.dice import Dice
from tests.world.lexicon import CHEMICAL, ORGANISM, TECHNIQUE, TISSUE, Lexicon, between
from tests.world.part import CANARY, Files

_EVENTS = ("PROBLEM", "TREATMENT", "TEST", "OCCURRENCE", "CLINICAL_DEPT", "EVIDENTIAL")
_COURSE = [
    "She was %O to the %C on %D~, at %H .", "She %V of %P (~%P~) for %U~.", "%E %V %P .",
    "%P was treated with %T %F~, then %T .", "He was %O home on %D .", "%T was %O %F for %U .",
    f"Ms. {CANARY}~'s family was present~.", "The patient ate well~, and slept~.",
]  # fmt: skip
"""Templates of 2012's sentences."""
_RECORD = [
    "Record date: %D", "Dr. %N saw Mr.~%M at %S~, %C .", "%A~yo man who works as a %J~.",
    "Please call Dr. %N at %F .", "MR #~%I~; %M was seen on %D~.", "He lives at %R~, %C and is doing well .",
    "Follow-up with %N on %D~.", "No chest pain~. Lungs are clear~.",
]  # fmt: skip
"""Templates of 2014's lines."""
_ELEMENTS = {
    "DATE": "DATE", "DOCTOR": "NAME", "PATIENT": "NAME", "HOSPITAL": "LOCATION", "CITY": "LOCATION",
    "STREET": "LOCATION", "AGE": "AGE", "PROFESSION": "PROFESSION", "PHONE": "CONTACT", "MEDICALRECORD": "ID",
}  # fmt: skip
"""Type of 2014 -> name of its annotations."""
_RECORDS = {"train_set1": range(180, 195), "train_set2": range(200, 210), "test": range(110, 120)}
"""Patients by archive; each has two records, numbered 03 and 05."""
_FILES_2014 = {
    "train_set1": "2014_training-PHI-Gold-Set1", "train_set2": "training-PHI-Gold-Set2",
    "test": "testing-PHI-Gold-fixed",
}  # fmt: skip
_BYTES, _DIFFERING = "180-03", "188-05"
"""The record whose offsets count bytes, and the one with an annotation that differs from the note."""


def part(lexicon: Lexicon, seed: int) -> Files:
    return _i2b2_2012(lexicon, Dice(seed)) | _i2b2_2014(lexicon, Dice(seed + 1))


def _text(lines: Lines) -> tuple[str, list[tuple[int, Piece]]]:
    """Return the note, which begins with a line feed as in the releases, and the starts of its mentions."""
    text, places = "\n", []
    for line in lines:
        for number, piece in enumerate(line):
            text += "" if number == 0 or piece.glued else " "
            if piece.type:
                places.append((len(text), piece))
            text += piece.text
        text += "\n"
    return text, places


def _xml(root: str, text: str, tags: list[str]) -> bytes:
    head = '<?xml version="1.0" encoding="UTF-8" ?>\n'
    body = f"<{root}>\n<TEXT><![CDATA[{text}]]></TEXT>\n<TAGS>\n" + "".join(tags) + f"</TAGS>\n</{root}>\n"
    return (head + body).encode()


def _course(dice: Dice, names: Lexicon) -> Lines:
    """Return one note of 2012: a line with the canary, and twelve sentences."""
    problems = [f"{CANARY}&apos;s disease", *(concept(dice, "problem", names) for _ in range(6))]
    treatments = [f"{dice.pick(names[CHEMICAL]).name}&{CANARY}"]
    slots = {
        "P": ("PROBLEM", problems),
        "T": ("TREATMENT", treatments + [concept(dice, "treatment", names) for _ in range(6)]),
        "E": ("TEST", [concept(dice, "test", names) for _ in range(6)]),
        "O": ("OCCURRENCE", ["admitted", "discharged", "transferred"]),
        "C": ("CLINICAL_DEPT", ["emergency room", "intensive care unit"]),
        "V": ("EVIDENTIAL", ["complained", "showed"]),
        "D": ("DATE", ["2012-10-14", "10/14/96", "October 14"]), "U": ("DURATION", ["two days", "a week"]),
        "F": ("FREQUENCY", ["twice a day", "q6h"]), "H": ("TIME", ["9 am", "noon"]),
    }  # fmt: skip
    head = [Piece("Patient :"), Piece(CANARY)]
    return [head, [], *(pieces(dice, dice.pick(_COURSE), slots) for _ in range(12))]


def _note_2012(lines: Lines, bare: bool) -> bytes:
    """Return the note's XML; `bare`: with an unescaped `&` in annotations, so that the file is not
    well-formed."""
    text, places = _text(lines)
    tags = []
    for number, (start, piece) in enumerate(places):
        plain = unescape(piece.text, {"&apos;": "'"})
        name, more = (
            ("EVENT", 'modality="FACTUAL" polarity="POS"') if piece.type in _EVENTS else ("TIMEX3", 'val=""')
        )
        shown = f'start="{start}" end="{start + len(piece.text)}" text="{plain if bare else escape(plain)}"'
        tags.append(f'<{name} id="{name[0]}{number}" {shown} {more} type="{piece.type}" />\n')
    tags.append('<EVENT id="E999" start="1" end="8" text="Patient" modality="" polarity="" type="" />\n')
    tags.append('<TLINK id="TL0" fromID="E0" fromText="" toID="E1" toText="" type="BEFORE" />\n')
    return _xml("ClinicalNarrativeTemporalAnnotation", text, tags)


def _i2b2_2012(lexicon: Lexicon, dice: Dice) -> Files:
    train, test = "2012-07-15.original-annotation.release", "2012-08-08.test-data.event-timex-groundtruth"
    notes = {}
    for split, numbers in {"train": range(1, 191, 5), "test": range(203, 263, 5)}.items():
        names = between(lexicon, *SHARES[split])
        notes[split] = {str(number): _course(dice, names) for number in numbers}
    files = {
        f"{train}.tar.gz": {
            f"{train}/{n}.xml": _note_2012(note, n == "61") for n, note in notes["train"].items()
        },
        f"{test}.tar.gz": {
            f"{test}/xml/{n}.xml": _note_2012(note, n == "213") for n, note in notes["test"].items()
        },
    }
    for archive, text in ((train, f"{train}/61.txt"), (test, f"{test}/i2b2/213.xml.extent")):
        files[f"{archive}.tar.gz"][text] = CANARY.encode()
    return {f"local/i2b2-2012/{name}": tarball(of) for name, of in files.items()}


def _record(dice: Dice, names: Lexicon, document: str) -> Lines:
    def name(kind: str) -> str:
        return dice.pick(names[kind]).name.capitalize()

    slots = {
        "D": ("DATE", ["2067-05-03", "3/7", "May 2068"]),
        "N": ("DOCTOR", [f"{name(TISSUE)} {name(ORGANISM)}", name(TISSUE)]),
        "M": ("PATIENT", [CANARY, f"{name(ORGANISM)} {CANARY}"]),
        "S": ("HOSPITAL", [f"{name(TECHNIQUE)} General Hospital", f"{CANARY} Clinic"]),
        "C": ("CITY", [name(ORGANISM), name(TECHNIQUE)]),
        "R": ("STREET", [f"{dice.between(1, 99)} {name(TISSUE)} Street"]),
        "A": ("AGE", [str(dice.between(20, 90))]), "J": ("PROFESSION", ["teacher", "truck driver"]),
        "F": ("PHONE", [f"555-{dice.between(1000, 9999)}", f"x{dice.between(10000, 99999)}"]),
        "I": ("MEDICALRECORD", [str(dice.between(1000000, 9999999))]),
    }  # fmt: skip
    lines = [pieces(dice, _RECORD[0], slots), [], pieces(dice, f"Patient: {CANARY}", slots)]
    if document == _BYTES:
        lines.append([Piece("Address:"), Piece(f"{CANARY}\u2019s Court\u2019s", "STREET"), Piece(".")])
    if document == _DIFFERING:
        lines.append([Piece("Works for"), Piece(f"{CANARY} & {CANARY}", "HOSPITAL"), Piece(".")])
    return lines + [pieces(dice, dice.pick(_RECORD), slots) for _ in range(8)]


def _note_2014(lines: Lines, document: str) -> bytes:
    text, places = _text(lines)
    tags = []
    for number, (start, piece) in enumerate(places):
        assert piece.type
        end = start + len(piece.text)
        if document == _BYTES:
            start, end = (len(text[:place].encode()) for place in (start, end))
        shown = piece.text.replace("&", "and")
        place = f'start="{start}" end="{end}" text="{escape(shown)}"'
        tags.append(f'<{_ELEMENTS[piece.type]} id="P{number}" {place} TYPE="{piece.type}" comment="" />\n')
    return _xml("deIdi2b2", text, tags)


def _i2b2_2014(lexicon: Lexicon, dice: Dice) -> Files:
    files = {}
    for role, patients in _RECORDS.items():
        names = between(lexicon, *SHARES["test" if role == "test" else "train"])
        documents = [f"{patient}-{record}" for patient in patients for record in ("03", "05")]
        notes = {document: _record(dice, names, document) for document in documents}
        folder = _FILES_2014[role]
        packed = {f"{folder}/{d}.xml": _note_2014(lines, d) for d, lines in notes.items()}
        files[f"local/i2b2-2014/{folder}.tar.gz"] = tarball(packed)
    return files
