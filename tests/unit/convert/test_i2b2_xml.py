"""i2b2 notes in XML: offsets, the known irregularities of the releases, and errors for anything else."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.convert.i2b2_xml import deidentification, temporal
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.tagging import to_mentions
from pubmill.messages.quotations import withholding
from tests.clinical import DEV, given, pack
from tests.world.part import CANARY

NOTE = f"\n{CANARY} was admitted on 10/14/96, with (fever).\n"
EVENT = '<EVENT id="E0" start="{}" end="{}" text="{}" modality="FACTUAL" polarity="POS" type="{}" />\n'
TIMEX = '<TIMEX3 id="T0" start="{}" end="{}" text="{}" type="{}" val="1996-10-14" mod="NA" />\n'
PHI = '<NAME id="P0" start="{}" end="{}" text="{}" TYPE="{}" comment="" />\n'


def xml(note: str, *tags: str) -> str:
    head = '<?xml version="1.0" encoding="UTF-8" ?>\n'
    return f"{head}<deIdi2b2>\n<TEXT><![CDATA[{note}]]></TEXT>\n<TAGS>\n{''.join(tags)}</TAGS>\n</deIdi2b2>\n"


def tag(text: str, form: str = EVENT, of: str = "PROBLEM", note: str = NOTE, shown: str | None = None) -> str:
    start = note.index(text)
    return form.format(start, start + len(text), text if shown is None else shown, of)


def of_2012(folder: Path, content: str, *tags: str, **options: Any) -> ConverterInput:
    path = pack(folder / "test.tar.gz", {"g/xml/7.xml": content, "g/i2b2/7.xml.extent": "x"})
    return given("test", {"test": path}, tags=list(tags or ("EVENT",)), dev=DEV, **options)


def of_2014(folder: Path, content: str, name: str = "180-03", **options: Any) -> ConverterInput:
    path = pack(folder / "test.tar.gz", {f"testing-PHI-Gold-fixed/{name}.xml": content})
    return given("test", {"test": path}, dev=DEV, **options)


def mentions(examples: list[Any]) -> list[tuple[str, str]]:
    return [
        (" ".join(example.words[start:end]), of)
        for example in examples
        for start, end, of in to_mentions(example.labels)
    ]


def test_events_alone_or_events_and_times(tmp_path: Path) -> None:
    content = xml(
        NOTE, tag("admitted", of="OCCURRENCE"), tag("fever"), tag("10/14/96", TIMEX, "DATE"),
        tag("with", of=""), '<TLINK id="TL0" fromID="E0" toID="T0" type="BEFORE" />\n',
    )  # fmt: skip
    source = of_2012(tmp_path, content)
    (example,) = temporal(source)
    assert (example.id, example.document) == ("7.2", "7")
    assert example.words == [CANARY, "was", "admitted", "on", "10/14/96,", "with", "(", "fever", ")."]
    assert mentions([example]) == [("admitted", "OCCURRENCE"), ("fever", "PROBLEM")]
    assert source.left_out == {"timex3": 1, "tlink": 1, "mentions_without_type": 1}
    (example,) = temporal(of_2012(tmp_path, content, "EVENT", "TIMEX3"))
    assert example.words[4:6] == ["10/14/96", ","]
    assert mentions([example])[1] == ("10/14/96", "DATE")


def test_entities_and_line_ends_of_a_note_are_its_characters(tmp_path: Path) -> None:
    note = "\nBell&apos;s palsy &amp; pain\n"
    events = [tag("Bell&apos;s palsy", note=note, shown="Bell's palsy"), tag("pain", note=note)]
    (example,) = temporal(of_2012(tmp_path, xml(note, *events)))
    assert mentions([example]) == [("Bell&apos;s palsy", "PROBLEM"), ("pain", "PROBLEM")]
    note = "\r\nleft hip\r\nfracture\r\n"
    event = EVENT.format(6, 18, "hip fracture", "PROBLEM")
    (example,) = temporal(of_2012(tmp_path, xml(note, event)))
    assert (example.id, example.words) == ("7.2", ["left", "hip", "fracture"])
    assert mentions([example]) == [("hip fracture", "PROBLEM")]


def test_bare_ampersands_are_mended_and_nothing_else_is(tmp_path: Path) -> None:
    note = "\nheld D&C & pain &amp; <b> ]\n"
    content = xml(note, tag("D&C", note=note), tag("& pain &amp;", note=note))
    (example,) = temporal(of_2012(tmp_path, content))
    assert example.words == ["held", "D&C", "&", "pain", "&amp;", "<b>", "]"]
    assert mentions([example]) == [("D&C", "PROBLEM"), ("& pain &amp;", "PROBLEM")]
    broken = content.replace("</TAGS>", f"<{CANARY}></TAGS>")
    with withholding(True), pytest.raises(PubmillError, match=r"g/xml/7\.xml:9: not well-formed") as error:
        list(temporal(of_2012(tmp_path, broken)))
    assert CANARY not in str(error.value)


def test_types_of_2014_whatever_the_annotation_is_called(tmp_path: Path) -> None:
    content = xml(NOTE, tag(CANARY, PHI, "PATIENT"), tag("10/14/96", PHI.replace("NAME", "PHI"), "DATE"))
    assert mentions(list(deidentification(of_2014(tmp_path, content)))) == [
        (CANARY, "PATIENT"),
        ("10/14/96", "DATE"),
    ]


def test_offsets_in_bytes_are_recognised_by_the_text(tmp_path: Path) -> None:
    """As in record 180-03, offsets after the first non-ASCII letters are 4 too large."""
    note = "\nDr. Lee\n8 O\u2019Neil\u2019s Court , Bath\n"
    tags = [tag("Lee", PHI, "DOCTOR", note), tag("Bath", PHI, "CITY", note)]
    start = note.index("8 O")
    tags.append(PHI.format(start, start + 16 + 4, "8 O\u2019Neil\u2019s Court", "STREET"))
    place = note.index("Bath")
    tags[1] = PHI.format(place + 4, place + 8, "Bath", "CITY")
    source = of_2014(tmp_path, xml(note, *tags))
    assert mentions(list(deidentification(source))) == [
        ("Lee", "DOCTOR"), ("8 O\u2019Neil\u2019s Court", "STREET"), ("Bath", "CITY"),
    ]  # fmt: skip
    assert not source.left_out


def test_texts_that_differ_are_listed_and_allowed_where_the_spec_says_so(tmp_path: Path) -> None:
    content = xml(
        NOTE, tag("admitted", PHI, "CITY"), tag("fever", PHI, "CITY", shown=CANARY),
        PHI.format(2, 9, "x", "ZIP"),
    )  # fmt: skip
    with withholding(True), pytest.raises(PubmillError) as error:
        list(deidentification(of_2014(tmp_path, content)))
    message = str(error.value)
    assert message.startswith("2 annotations whose `text`") and "option `differing`" in message
    assert "180-03.xml:8: NAME\n" in message and "180-03.xml:9: NAME\n" in message
    assert CANARY not in message
    source = of_2014(tmp_path, content, differing=["180-03"])
    assert len(mentions(list(deidentification(source)))) == 3
    assert source.left_out == {"differing_texts": 2}


@pytest.mark.parametrize(("content", "message"), [
    *((xml(NOTE, tag("fever", PHI, "CITY"), bad), f":8: .*{message}") for bad, message in (
        (PHI.format(4, 4, "", "CITY"), "must be after its start"),
        (PHI.format(4, 3, "x", "CITY"), "must be after its start"),
        (PHI.format(40, 999, "x", "CITY"), "the note has 50 characters"),
        (PHI.format("-1", 3, "x", "CITY"), "whole numbers for `start` and `end`"),
        (PHI.format(1, "", "x", "CITY"), "whole numbers for"),
        (PHI.format(1, 2, "x", CANARY), "unknown type <8 char"),
        (PHI.format(1, 2, "x", ""), "unknown type <0 char"),
        (PHI.format(1, 2, "x", "CITY").replace("NAME", CANARY), "unknown annotation <8 char"),
        (PHI.format(1, 2, "x", "CITY").replace("TYPE=", "type="), "<NAME> has no TYPE"),
        (PHI.format(1, 2, "x", "CITY").replace("end=", "stop="), "<NAME> has no end"),
    )),
    *((xml(NOTE).replace(old, new), rf"(:\d+)?: .*{message}") for old, new, message in (
        ("<deIdi2b2>", '<!DOCTYPE deIdi2b2 SYSTEM "http://example.org/a.dtd"><deIdi2b2>', "refused"),
        ("<TAGS>", "", "not well-formed"), ("<TEXT>", "<NOTE></NOTE><TEXT2>", "not well-formed"),
        ("<TEXT>", "<TEXT>x</TEXT><TEXT>", "one <TEXT>"), (f"<![CDATA[{NOTE}]]>", "", "one <TEXT>"),
        (f"<![CDATA[{NOTE}]]>", "a<b/>c", "one <TEXT>"), ("<TAGS>\n</TAGS>", "", "one <TAGS>"),
    )),
])  # fmt: skip
def test_malformed_annotations_and_other_xml_are_reported(tmp_path: Path, content: str, message: str) -> None:
    where = r"test\.tar\.gz:testing-PHI-Gold-fixed/180-03\.xml"
    with withholding(True), pytest.raises(PubmillError, match=where + message) as error:
        list(deidentification(of_2014(tmp_path, content)))
    assert CANARY not in str(error.value)


def test_names_of_files_are_checked(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match=r"sample\.xml: not the file name of a note"):
        list(deidentification(of_2014(tmp_path, xml(NOTE), "sample")))
    path = pack(tmp_path / "test.tar.gz", {"a/7.xml": xml(NOTE), "b/7.xml": xml(NOTE)})
    with pytest.raises(PubmillError, match=r"b/7\.xml: a second 7\.xml; the first is .*a/7\.xml"):
        list(temporal(given("test", {"test": path}, tags=["EVENT"], dev=DEV)))
    pack(path, {"a/7.txt": NOTE, "a/._7.xml": "x"})
    with pytest.raises(PubmillError, match=r"no XML files.*tar czf test\.tar\.gz"):
        list(temporal(given("test", {"test": path}, tags=["EVENT"], dev=DEV)))


def test_patients_are_held_out_with_all_their_records(tmp_path: Path) -> None:
    sets = {
        f"train_set{number}": pack(
            tmp_path / f"{number}.tar.gz",
            {
                f"s/{patient}-0{record}.xml": xml(NOTE)
                for patient in range(100, 105)
                for record in (number, number + 2)
            },
        )
        for number in (1, 2)
    }
    found = {
        split: [example.document or "" for example in deidentification(given(split, sets, dev=DEV))]
        for split in ("train", "dev")
    }
    assert sorted(found["train"] + found["dev"]) == [
        f"{p}-0{r}" for p in range(100, 105) for r in range(1, 5)
    ]
    assert len(found["dev"]) == 4 and len({document[:3] for document in found["dev"]}) == 1


@pytest.mark.parametrize("tags", [None, [], "EVENT", ["TLINK"]])
def test_options_are_checked(tmp_path: Path, tags: Any) -> None:
    source = of_2012(tmp_path, xml(NOTE))
    with pytest.raises(PubmillError, match="option `tags`"):
        list(temporal(given("test", source.inputs, tags=tags, dev=DEV)))
    with pytest.raises(PubmillError, match="option `differing`"):
        list(temporal(of_2012(tmp_path, xml(NOTE), differing="7")))
    with pytest.raises(PubmillError, match="has no options"):
        list(deidentification(of_2014(tmp_path, xml(NOTE), tags=["EVENT"])))


@pytest.mark.parametrize("number", [20, 21])
def test_at_most_twenty_differing_texts_are_listed(tmp_path: Path, number: int) -> None:
    content = xml(NOTE, *[tag("fever", PHI, "CITY", shown="x")] * number)
    with pytest.raises(PubmillError) as caught:
        list(deidentification(of_2014(tmp_path, content)))
    first, *places, last = str(caught.value).split("\n")
    assert first == f"{number} annotations whose `text` differs from the note's at `start` to `end`:"
    assert len(places) == number and last.startswith("Is this the original release?")
    assert places[:20] == [
        f"  {tmp_path}/test.tar.gz:testing-PHI-Gold-fixed/180-03.xml:{line}: NAME" for line in range(7, 27)
    ]
    assert places[20:] == ["  ..."] * (number > 20)


@pytest.mark.parametrize("accent", ["", "\u00e9"], ids=["characters", "bytes"])
def test_an_annotation_may_end_with_the_note_and_no_further(tmp_path: Path, accent: str) -> None:
    note = f"{accent} in Bath"
    end = len(note.encode())
    content = xml(note, PHI.format(end - 4, end, "Bath", "CITY"))
    assert mentions(list(deidentification(of_2014(tmp_path, content)))) == [("Bath", "CITY")]
    content = xml(note, PHI.format(end - 3, end + 1, "Bath", "CITY"))
    with pytest.raises(PubmillError, match=rf"at {end - 3} to {end + 1}, but the note has {len(note)} char"):
        list(deidentification(of_2014(tmp_path, content)))
