"""The made-up MEDLINE files and real ones are valid against NLM's DTD."""

import io
from pathlib import Path

import pytest
from lxml import etree

from tests.world import citations, medline
from tests.world.lexicon import make_lexicon

_MATHML = """
<!ELEMENT mml:math ANY> <!ATTLIST mml:math xmlns:mml CDATA #FIXED "http://www.w3.org/1998/Math/MathML">
<!ELEMENT mml:mi (#PCDATA)> <!ELEMENT mml:mo (#PCDATA)> <!ELEMENT mml:mn (#PCDATA)>
"""


@pytest.fixture(scope="module")
def dtd(shared: Path) -> etree.DTD:
    """The DTD of 2025, with its MathML module (a separate file) replaced by four declarations."""
    path = shared / "mirror/dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd"
    text = path.read_text(encoding="utf-8")
    assert "%mathml-in-pubmed;" in text
    head, _, rest = text.partition("<!ENTITY % mathml-in-pubmed")
    return etree.DTD(io.StringIO(head + _MATHML + rest.partition("%mathml-in-pubmed;")[2]))


def test_every_file_of_the_world_is_valid(dtd: etree.DTD) -> None:
    files = citations.make_citations(make_lexicon(1), 1)
    for name, records in files.items():
        tree = etree.fromstring(medline.xml(name, records))
        assert dtd.validate(tree), (name, str(dtd.error_log)[:500])


def test_the_dtd_still_refuses(dtd: etree.DTD) -> None:
    tree = etree.fromstring(medline.xml("pubmed26n1336", []))
    assert not dtd.validate(tree)
