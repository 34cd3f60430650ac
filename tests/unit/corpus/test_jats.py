"""Text of articles: kept and removed parts, and refused files."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pubmill.corpus.jats import JatsReader
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from tests.articles import USUAL, body_characters, body_words, characters, words

DOCTYPE = (
    '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.2 '
    '20190208//EN" "JATS-archivearticle1.dtd">'
)
SPACES = (
    'xmlns:mml="http://www.w3.org/1998/Math/MathML" xmlns:xlink="http://www.w3.org/1999/xlink" '
    'xmlns:ali="http://www.niso.org/schemas/ali/1.0/"'
)


def article(
    body: str = "", meta: str = "", after: str = "", doctype: str = DOCTYPE, root: str = "article"
) -> bytes:
    text = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{doctype}\n'
        f'<{root} article-type="research-article" {SPACES}>'
        f"<front><article-meta><article-id pub-id-type='pmc'>PMC7</article-id>{meta}</article-meta></front>"
        f"{f'<body>{body}</body>' if body else ''}{after}</{root}>"
    )
    return text.encode()


def read(data: bytes, leave_out: tuple[str, ...] = USUAL) -> Document:
    return JatsReader(leave_out)(data, Document("pmc:7", version=2, date="2026-09-01"), "PMC7.2.xml")


def body(content: str, leave_out: tuple[str, ...] = USUAL) -> tuple[tuple[str, str], ...]:
    return read(article(content), leave_out).body


def test_every_field_and_the_source_says_licence_flags_and_pmid_first() -> None:
    meta = (
        "<title-group><article-title>A <italic>title</italic><xref ref-type='fn'>*</xref></article-title>"
        "<subtitle>Its rest</subtitle></title-group>"
        "<pub-date pub-type='pmc-release'><year>2003</year></pub-date>"
        "<pub-date pub-type='ppub'><year>2006</year></pub-date>"
        "<pub-date date-type='pub'><year>2005</year></pub-date>"
        "<permissions><license xlink:href='https://creativecommons.org/licenses/by-nc/4.0/'/></permissions>"
        "<abstract><title>Abstract</title><sec><title>Aim</title><p>One.</p><p>Two.</p></sec></abstract>"
    )
    found = read(article("<sec><title>Results</title><p>Three.</p></sec>", meta))
    assert found == Document(
        id="pmc:7", version=2, date="2026-09-01", published="2005", languages=("eng",),
        types=("research-article",), licence="CC BY-NC", title="A title Its rest",
        sections=(("Aim", "One.\nTwo."),), body=(("Results", "Three."),),
    )  # fmt: skip
    meta = "<permissions><license xlink:href='https://creativecommons.org/licenses/by/4.0/'/></permissions>"
    facts = Document("pmc:7", licence="TDM", flags=("retracted",))
    found = JatsReader(USUAL)(article("<p>x</p>", meta), facts, "x")
    assert (found.licence, found.flags) == ("TDM", ("retracted",))
    named = (
        "<article-id pub-id-type='doi'>10.1/1</article-id><article-id pub-id-type='pmid'> 0123\n</article-id>"
    )
    assert read(article("<p>x</p>", named)).pmid == "123"
    assert read(article("<p>x</p>")).pmid == ""
    assert read(article("<p>x</p>", named.replace("0123", "none"))).pmid == ""
    assert JatsReader(USUAL)(article("<p>x</p>", named), Document("pmc:7", pmid="5"), "x").pmid == "5"


@pytest.mark.parametrize(("permissions", "code"), [
    ("<license license-type='open-access'><license-p>Free</license-p></license>", ""),
    ("<license><ali:license_ref>http://creativecommons.org/licenses/by-nc-sa/3.0</ali:license_ref></license>",
     "CC BY-NC-SA"),
    ("<license><license-p>See <ext-link xlink:href='http://creativecommons.org/publicdomain/zero/1.0/'>it"
     "</ext-link></license-p></license>", "CC0"),
    ("<license><p>under (http://creativecommons.org/licenses/by-nd/2.0) it</p></license>", "CC BY-ND"),
    ("<license xlink:href='https://creativecommons.org/publicdomain/mark/1.0/'/>", ""),
])  # fmt: skip
def test_licence_of_the_xml(permissions: str, code: str) -> None:
    assert read(article("<p>x</p>", f"<permissions>{permissions}</permissions>")).licence == code


def test_lists_inline_text_and_formulas_are_whole() -> None:
    content = (
        "<p>The <italic>TP<sub>53</sub></italic> of <bold>TNF-<italic>α</italic></bold>\n  at 10<sup>−<bold>3"
        "</bold></sup>&#160;M<break/>as shown <xref ref-type='bibr' rid='r1'>[12]</xref>.</p>"
    )
    assert body(content) == (("", "The TP53 of TNF-α at 10−3\u00a0M as shown [12]."),)
    content = (
        "<p>Both:<list><list-item><label>1</label><p>one</p></list-item><list-item>"
        "<p>two <list><list-item><p>deep</p></list-item></list></p></list-item></list>and so on"
        "<disp-quote><p>said</p></disp-quote></p>"
        "<def-list><def-item><term>T</term><def><p>its meaning</p></def></def-item></def-list>"
    )
    assert body(content) == (("", "Both:\none\ntwo\ndeep\nand so on\nsaid\nT\nits meaning"),)
    inline = (
        "<p>Where <inline-formula><alternatives><tex-math>\\documentclass{x}$y$</tex-math>"
        "<mml:math><mml:semantics><mml:mrow><mml:mi>y</mml:mi><mml:mo>=</mml:mo><mml:mn>2</mml:mn></mml:mrow>"
        "<mml:annotation>y=2</mml:annotation></mml:semantics></mml:math><inline-graphic xlink:href='g'/>"
        "</alternatives></inline-formula> and "
        "<disp-formula><label>(1)</label>E = mc<sup>2</sup></disp-formula> holds.</p>"
    )
    assert body(inline) == (("", "Where y=2 and holds."),)
    assert body(inline, ()) == (("", "Where y=2 and E = mc2 holds."),)


@pytest.mark.parametrize(("formula", "text"), [
    ("\n <mml:mi>a</mml:mi>\n <mml:mo>+</mml:mo>\n <mml:mrow>\n<mml:mn>1</mml:mn>\t</mml:mrow>\n", "a+1"),
    ("<mml:mn>1</mml:mn><mml:mtext> if </mml:mtext> <mml:mi>x</mml:mi>", "1 if x"),
    ("<mml:mi>x</mml:mi> <mml:mo>\n=\n</mml:mo> <mml:mi>y</mml:mi>", "x = y"),
    ("<mml:mi>x</mml:mi><mml:mrow>&#160;</mml:mrow><mml:mi>y</mml:mi>", "x\u00a0y"),
    ("<mml:mtext>in</mml:mtext><mml:mspace width='.2em'/><mml:mi>B</mml:mi>", "in B"),
    ("<mml:mtable> <mml:mtr> <mml:mtd><mml:mn>1</mml:mn></mml:mtd><mml:mtd>if</mml:mtd></mml:mtr>"
     "<mml:mtr><mml:mtd><mml:mn>2</mml:mn></mml:mtd></mml:mtr></mml:mtable>", " 1 if 2 "),
])  # fmt: skip
def test_words_of_formulas_are_those_of_ncbis_stylesheet(formula: str, text: str) -> None:
    inside = f"<mml:math>{formula}</mml:math>"
    content = f"({inside}, <inline-formula><alternatives>\n{inside}\n</alternatives></inline-formula>)"
    data = article(
        f"<sec><title>T {content}</title><p>{content}</p></sec>",
        f"<title-group><article-title>{content}</article-title></title-group>",
    )
    found, expected = read(data), f"({text}, {text})".replace("  ", " ")
    assert (found.title, found.body) == (expected, ((f"T {expected}", expected),))
    assert words(found.body) == body_words(etree.fromstring(data), USUAL)


@pytest.mark.parametrize("space", ["www.niso.org/standards/z39-96", "docs.oasis-open.org"])
def test_cells_of_oasis_tables_are_lines(space: str) -> None:
    entries = "<o:row><o:entry>a<fn><p>n</p></fn>b</o:entry><o:entry>c</o:entry></o:row>"
    content = (
        f"<table-wrap><o:table xmlns:o='http://{space}/ns/oasis-exchange/table'><o:tgroup><o:tbody>{entries}"
        "</o:tbody></o:tgroup></o:table></table-wrap>"
    )
    assert body(content, ()) == (("", "a b\nn\nc"),)
    reader = JatsReader(("tables",))
    assert not reader(article(content), Document("pmc:7"), "x").body
    assert reader.left_out == {"table": 1}


@pytest.mark.parametrize(("content", "kept", "without"), [
    ("<p>as<disp-formula>E=m</disp-formula>where</p>", "as E=m where", "as where"),
    ("<p>as<disp-formula-group><disp-formula>E</disp-formula></disp-formula-group>so</p>",
     "as E so", "as so"),
    ("<p>C<sub>2</sub>H<inline-formula><alternatives><tex-math>x</tex-math><mml:math>z</mml:math>"
     "</alternatives></inline-formula>O</p>", "C2HzO", "C2HzO"),
    ("<p>(<inline-graphic><alt-text>x</alt-text></inline-graphic>)a<graphic/>b<break/>c</p>",
     "()a b c", "()a b c"),
    ("<p>one<code>two</code>three<question>four</question>five</p>", "one\ntwo\nthree\nfour\nfive",
     "one\ntwo\nthree\nfour\nfive"),
    ("<p>one<table><tr><td>1</td></tr></table>two</p>", "one\n1\ntwo", "one two"),
    ("<p>one<fig><caption><p>cap</p></caption></fig>two</p>", "one two\ncap", "one two\ncap"),
    ("<p>one<supplementary-material><caption><p>cap</p></caption></supplementary-material>two</p>",
     "one two\ncap", "one two"),
    ("<p>one<fn-group><fn><p>note</p></fn></fn-group>two</p>", "one\nnote\ntwo", "one two"),
    ("<p>drug<fn><p>note</p></fn>was<fn><p>other</p></fn>, so</p><p>next</p>",
     "drug was, so\nnote\nother\nnext", "drug was, so\nnext"),
    ("<p><fn><p>first<fn><p>deep</p></fn> on</p></fn>word</p>", "word\nfirst on\ndeep", "word"),
    ("<p>a <bold>b<fn><p>n</p></fn></bold> c<list><list-item><p>d<fn><p>m</p></fn> e</p></list-item>"
     "</list>f</p>", "a b c\nd e\nm\nf\nn", "a b c\nd e\nf"),
    ("<fig><caption><title>cap<fn><p>n</p></fn>s</title><p>t</p></caption></fig>", "cap s\nn\nt", "cap s\nt"),
    ("<p>one<list><list-item><p>two</p></list-item></list><bold>three</bold> four</p>",
     "one\ntwo\nthree four", "one\ntwo\nthree four"),
    ("<p>one<boxed-text><sec><title>T</title><p>in</p></sec></boxed-text>two</p>", "one two in",
     "one two in"),
])  # fmt: skip
def test_words_are_parted_by_blocks_and_by_nothing_else(content: str, kept: str, without: str) -> None:
    for leave_out, text in (((), kept), (USUAL, without)):
        found = body(content, leave_out)
        assert " ".join(part for _, part in found) == text
        root = etree.fromstring(article(content))
        assert words(found) == body_words(root, leave_out)


def test_floats_follow_the_paragraphs_of_their_section_and_sub_articles_come_last() -> None:
    content = (
        "<sec><title>R</title><p>As <fig><label>Figure 1</label><caption><title>Cap</title>"
        "<p>tion.</p></caption></fig>seen.</p>"
        "<table-wrap><caption><p>Table of x.</p></caption><table><tr><td>1</td></tr></table>"
        "<table-wrap-foot><fn><p>a note</p></fn></table-wrap-foot></table-wrap>"
        "<boxed-text><sec><title>Box</title><p>In it.</p></sec><p>Loose.</p></boxed-text><p>After.</p></sec>"
    )
    assert body(content) == (
        ("R", "As seen.\nAfter.\nCap\ntion.\nTable of x.\nLoose."), ("R > Box", "In it."),
    )  # fmt: skip
    everything = dict(body(content, ()))
    assert everything["R"] == "As seen.\nAfter.\nCap\ntion.\nTable of x.\n1\na note\nLoose."
    assert dict(body(content, ("captions", "tables")))["R"] == "As seen.\nAfter.\na note\nLoose."
    floats = (
        "<back><ref-list><ref>gone</ref></ref-list></back>"
        "<floats-group><fig><caption><p>C.</p></caption></fig></floats-group>"
    )
    assert read(article("<p>x</p>", after=floats)).body == (("", "x"), ("", "C."))
    after = (
        "<sub-article><front-stub/><body><sec><title>Letter</title><p>Dear.</p></sec></body></sub-article>"
    )
    assert read(article("<p>x</p>", after=after)).body == (("", "x"),)
    assert read(article("<p>x</p>", after=after), ()).body == (("", "x"), ("Letter", "Dear."))


def test_nested_sections_comments_languages_and_what_is_left_out() -> None:
    content = (
        "<p>Before.</p><sec><title>Methods<xref ref-type='fn'>a</xref></title>"
        "<sec><title>Mice <italic>in\nvivo</italic></title><p>M.</p></sec>"
        "<sec><p>Untitled.</p><sec><title><label>2.1</label>Deep</title><p>D.</p></sec></sec></sec>"
        "<sec><title>Empty</title></sec>"
    )
    assert body(content) == (
        ("", "Before."), ("Methods > Mice in vivo", "M."), ("Methods", "Untitled."), ("Methods > Deep", "D."),
    )  # fmt: skip
    assert read(article()).body == ()
    assert body("<p>a<!-- <p>no</p> -->b<?pi no?>c<![CDATA[<d>]]></p>") == (("", "abc<d>"),)
    data = article("<p>x</p>").replace(b"<article ", b'<article xml:lang="FR" ')
    assert read(data).languages == ("fre",)
    assert read(article("<p>x</p>")).languages == ("eng",)
    reader = JatsReader(("tables", "sub-articles"))
    content = "<p>x<table-wrap><table/></table-wrap></p><table-wrap><table/></table-wrap>"
    reader(article(content, after="<response><body><p>r</p></body></response>"), Document("pmc:7"), "x")
    assert reader.left_out == {"table": 2, "sub-article": 1}


@pytest.mark.parametrize("back", [
    "<back><p>no</p></back>", "<back><!-- </back> --><p>no</p></back>",
    "<back><p><![CDATA[</back>]]></p></back>",
    "<!-- <back> --><floats-group><p>y</p></floats-group><back/><!-- </back> -->",
    "<?pi <back>?><floats-group><p>y</p></floats-group><?pi </back>?>",
    "<back><p>no</p></back><floats-group><p>y</p></floats-group><!-- </back> -->",
    "<back/><sub-article><front-stub/><body><p>no</p></body><back><p>no</p></back></sub-article>",
    "<back id='b'><p>no</p></back><floats-group><p>y</p></floats-group>",
    "<back><!-- </back><floats-group><p>no</p></floats-group><?x --></back> ?>",
    "<back><?x </back><floats-group><p>no</p></floats-group><!-- ?></back> -->",
    "<back><![CDATA[</back><floats-group><p>no</p></floats-group><!--]]></back> -->",
    "<back></back ><floats-group><p>y</p></floats-group><back></back>",
    "<back><back><p>no</p></back><floats-group><p>no</p></floats-group></back>",
])  # fmt: skip
def test_the_back_is_left_out_and_nothing_else(back: str) -> None:
    floats = (("", "y"),) if "floats-group" in back else ()
    floats = () if "<p>y</p>" not in back else floats
    assert read(article("<p>x</p>", after=back)).body == (("", "x"), *floats)


def test_what_is_malformed_in_the_back_alone_goes_unnoticed() -> None:
    assert read(article("<p>x</p>", after="<back><p></back>")).body == (("", "x"),)
    refused(article("<p>x</p>", after="<back><p></back><!-- -->" + "</p>"), "malformed XML")
    whole = article("<p>x</p>", after="<back><ref-list><ref>R</ref></ref-list></back>")
    for end in range(whole.index(b"<back>"), len(whole)):
        refused(whole[:end], "malformed XML")


def refused(data: bytes, message: str) -> None:
    with pytest.raises(PubmillError, match=rf"PMC7\.2\.xml.*{message}"):
        read(data)


LEVELS = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
X = article("<p>x</p>")


@pytest.mark.parametrize(("data", "message"), [
    *((article("<p>&e1;</p>", doctype=f"{before}<!DOCTYPE article [{declared}]>"), "declares entities")
      for before, declared in [("", f'<!ENTITY e0 "ha">{LEVELS}'),
                               ("", '<!ENTITY e1 SYSTEM "file:///etc/hostname">'),
                               ("<!-- <article> -->", '<!ENTITY e1 "x">')]),
    (article("<p>&alpha;</p>"), ":3: malformed XML.*'alpha'"),
    (article("<p>x</p>", root="book"), "its root is <book>"),
    (b"<article><body/></article>", "<article-meta>"),
    (X.replace(b"PMC7", b"PMC8"), "filed as PMC7.*says PMC8"),
    (X.replace(b"UTF-8", b"ISO-8859-1"), "encoded as ISO-8859-1"),
    (article("<p>x</q>"), ":3: malformed XML"), (b"", "malformed XML"),
    *((article(f"<p>a{written}e</p>"), r"U\+FDD0") for written in ("\ufdd0", "&#xfDd0;", "&#064976;")),
])  # fmt: skip
def test_entities_and_other_documents_are_refused(data: bytes, message: str) -> None:
    refused(data, message)


WHOLE = article(
    "<sec><title>Results</title><p>The <italic>TP<sub>53</sub></italic> gene &amp; others.</p>"
    "<fig><caption><p>Seen.</p></caption></fig></sec>",
    "<abstract><p>Short.</p></abstract>",
    "<back><!-- x --><ref-list><ref>R</ref></ref-list></back><floats-group><p>Late.</p></floats-group>",
)


@given(
    st.integers(WHOLE.index(b"<article"), len(WHOLE) - 1),
    st.integers(0, 40),
    st.randoms(use_true_random=False),
)
def test_damage_is_refused_or_is_in_the_text(start: int, length: int, draw: random.Random) -> None:
    """Truncated or overwritten articles that still parse have the text of a simple reference reader."""
    middle = bytes(draw.choice(b"<>/&;-!x \n\xce") for _ in range(draw.randint(0, length)))
    data = WHOLE[:start] + middle + WHOLE[start + length :]
    try:
        found = read(data)
    except PubmillError:
        return
    try:
        root = etree.fromstring(data, etree.XMLParser(remove_comments=True, remove_pis=True))
    except etree.XMLSyntaxError:
        assert found == read(WHOLE), "only references, which are not parsed, may be damaged unnoticed"
        return
    assert characters(found.body) == body_characters(root, USUAL)


@given(st.lists(st.text("abc αβ\n\t", min_size=1, max_size=12), min_size=1, max_size=6))
def test_paragraphs_come_out_as_they_went_in(paragraphs: list[str]) -> None:
    found = body("".join(f"<p>{text}</p>" for text in paragraphs))
    lines = [" ".join(text.split()) for text in paragraphs if text.strip()]
    assert found == ((("", "\n".join(lines)),) if lines else ())
