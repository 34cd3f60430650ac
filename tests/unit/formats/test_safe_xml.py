"""Untrusted XML: what is refused, repaired, or left out."""

import pytest

from pubmill.errors import PubmillError
from pubmill.formats.safe_xml import parse_xml

DECLARED = '<!DOCTYPE a SYSTEM "a.dtd">\n<a>x</a>'


def test_comments_are_left_out_and_faults_repaired() -> None:
    root = parse_xml("\ufeff<a>x<!-- no --><?no no?>y<b>&lt;</b></a>", "in")
    assert root.tag == "a" and [one.tag for one in root] == ["b"]
    assert "".join(map(str, root.itertext())) == "xy<"
    assert parse_xml(DECLARED, "in", doctype=True).text == "x"

    def repair(content: str) -> str:
        return content.replace("&", "&amp;")

    assert parse_xml("<a>b & c</a>", "in", repair).text == "b & c"
    assert parse_xml("<a>b &amp; c</a>", "in", repair).text == "b & c"


@pytest.mark.parametrize(("content", "doctype", "what"), [
    (DECLARED, False, "a document type or entities, which the file"),
    ('<!ENTITY b "c"><a/>', False, "a document type or entities, which the file"),
    ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', True, "entities, which the format"),
])  # fmt: skip
def test_declarations_are_refused(content: str, doctype: bool, what: str) -> None:
    with pytest.raises(PubmillError) as caught:
        parse_xml(content, "in", doctype=doctype)
    assert str(caught.value) == f"in: declares {what} does not need; refused"


@pytest.mark.parametrize("repaired", [False, True])
def test_the_line_of_what_is_still_malformed_is_named(repaired: bool) -> None:
    # repaired, the fault of the third line is left
    repair = (lambda content: content.replace("&", "&amp;")) if repaired else None
    with pytest.raises(PubmillError) as caught:
        parse_xml("<a>\nb & c\n</b></a>", "in", repair)
    assert str(caught.value) == f"in:{3 if repaired else 2}: not well-formed XML; download it again"
