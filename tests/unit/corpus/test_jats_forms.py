"""Text of articles: forms of publishers that are rare in PMC's own files."""

from collections import Counter

import pytest
from lxml import etree

from pubmill.corpus.jats import JatsReader
from pubmill.corpus.shards import Document
from tests.articles import body_words, words
from tests.unit.corpus.test_jats import article, body, read


def part(kind: str, text: str) -> str:
    return f"<named-content content-type='{kind}'>{text}</named-content>"


def taxon(*parts: str) -> str:
    return part("taxon-name", "".join(parts))


def plazi(*parts: str) -> str:
    inside = "".join(f"<tp:taxon-name-part>{one}</tp:taxon-name-part>" for one in parts)
    return f"<tp:taxon-name xmlns:tp='http://www.plazi.org/taxpub'>{inside}</tp:taxon-name>"


MOUSE = taxon(part("genus", "Mus"), part("species", "musculus"))


@pytest.mark.parametrize(("content", "text"), [
    (f"of <italic>{MOUSE}</italic>.", "of Mus musculus."),
    (f"({taxon(part('genus', 'M.'), part('species', 'musculus'))}, L.)", "(M. musculus, L.)"),
    (taxon(part("genus", "<italic>Mus</italic>"), part("rank", "<bold>subg.</bold>")), "Mus subg."),
    (taxon(*(f"<italic>{part(kind, 'a')}</italic>" for kind in ("genus", "species"))), "a a"),
    (part("Genus", "Mus") + part("Species", "musculus") + "-like", "Mus musculus-like"),
    (taxon(*(f"<ext-link>{part(kind, 'a')}</ext-link>" for kind in ("genus", "species"))), "a a"),
    (plazi("Mus", "musculus").replace("><tp", "><object-id>7</object-id><tp"), "Mus musculus"),
    (f"<italic>{MOUSE}</italic><italic>s.l.</italic> <bold>A</bold><italic>{MOUSE}</italic>",
     "Mus musculus s.l. A Mus musculus"),
    (f"{MOUSE}<sup>T</sup> and {MOUSE}<xref ref-type='bibr'>1</xref>", "Mus musculusT and Mus musculus1"),
    (f"anti{taxon(part('genus', 'Mus'))}es", "antiMuses"), (plazi("Mus", "musculus"), "Mus musculus"),
    (f"{plazi('Penicillium')}s", "Penicilliums"), (part("gene", "TP") + part("variant", "53"), "TP53"),
    (part("highlight", "AC") + "<bold>GT</bold>" + part("highlight", "A"), "ACGTA"),
])  # fmt: skip
def test_parts_of_a_species_name_are_words(content: str, text: str) -> None:
    data = article(
        f"<sec><title>{content}</title><p>{content}</p></sec>",
        f"<title-group><article-title>{content}</article-title></title-group>",
    )
    found = read(data)
    assert (found.title, found.body) == (text, ((text, text),))


def abstract(kind: str, content: str = "<p>Some text.</p>") -> str:
    typed = f" abstract-type='{kind}'" if kind else ""
    return f"<abstract{typed}>{content}</abstract>"


@pytest.mark.parametrize(("kind", "kept"), [
    *((kind, True) for kind in (
        "main", "normal", "structured", "Original Abstract", "executive-summary", "ASCII", "section", "x1",
        "publication", "transcript", "web-abstract",
    )),
    *((kind, False) for kind in (
        "graphical", "graphicalAbstract", "visual-abstract", "video", "teaser", "web-teaser", "toc", "TOC",
        "table-of-contents", "key-points", "keypoints", "author-highlights", "Highlights", "editor",
        "editors-summary", "web-summary", "lay-summary", "plain-language-summary", "objectives",
        "stereochemical", "rss/atom", "translated",
    )),
])  # fmt: skip
def test_an_only_abstract_is_one_unless_its_type_says_otherwise(kind: str, kept: bool) -> None:
    reader, counted = JatsReader(()), {f'abstract abstract-type="{kind}"': 1}
    found = reader(article("<p>x</p>", abstract(kind)), Document("pmc:7"), "x")
    assert found.sections == ((("", "Some text."),) if kept else ())
    assert (reader.typed, reader.left_out) == ((counted, {}) if kept else ({}, counted))


@pytest.mark.parametrize(("abstracts", "text", "left_out"), [
    ((), "", {}), (("", "", "trans"), "plain plain", {"trans": 1}), (("main", ""), "plain", {"main": 1}),
    (("short", "main", "toc"), "main", {"short": 1, "toc": 1}),
    (("summary", "short"), "summary", {"short": 1}), (("graphical", "main"), "main", {"graphical": 1}),
])  # fmt: skip
def test_one_of_several_typed_abstracts(
    abstracts: tuple[str, ...], text: str, left_out: dict[str, int]
) -> None:
    reader = JatsReader(())
    made = "".join(abstract(kind, f"<p>{kind or 'plain'}</p>") for kind in abstracts)
    found = reader(article("<p>x</p>", made), Document("pmc:7"), "x")
    assert " ".join(part for _, part in found.sections) == text
    assert reader.left_out == Counter(
        {f'abstract abstract-type="{kind}"': number for kind, number in left_out.items()}
    )


@pytest.mark.parametrize(("content", "kept"), [
    ("<sec><title>Aims</title><p>To test.</p></sec>", True),
    (f"<p>{'word ' * 100}</p>", True),
    ("<p>A picture of it.</p><fig><graphic/></fig>", False),
])  # fmt: skip
@pytest.mark.parametrize("others", ["", "toc", "main"])
def test_the_only_abstract_may_be_called_graphical(content: str, kept: bool, others: str) -> None:
    meta = abstract("graphical", content) + (abstract(others, "<p>other</p>") if others else "")
    found = read(article("<p>x</p>", meta)).sections
    assert bool(found) == (others == "main" or (kept and not others))
    assert all("other" in text for _, text in found) == (others == "main" or not found)


def fenced(attributes: str, *inside: str) -> str:
    return f"<mml:mfenced {attributes}>{''.join(f'<mml:mi>{one}</mml:mi>' for one in inside)}</mml:mfenced>"


@pytest.mark.parametrize(("formula", "text"), [
    (fenced("", "x"), "(x)"), (fenced(""), "()"), (fenced("", "a", "b", "c"), "(a,b,c)"),
    (fenced("open='[' close=']'", "0", "1"), "[0,1]"), (fenced("open='' close='|'", "a"), "a|"),
    (fenced("open=' { ' close=' } ' separators=' ; '", "a", "b"), "{a;b}"),
    (fenced("separators=';,'", "a", "b", "c", "d"), "(a;b,c,d)"),
    (fenced("separators=' ; , . '", "a", "b"), "(a;b)"), (fenced("separators=''", "a", "b"), "(ab)"),
    (fenced("separators='|'", "a", fenced("open='['", "b", "c")), "(a|[b,c))"),
    (f"<mml:mfenced>\n <mml:mrow>{fenced('', 'a')}<mml:mi>b</mml:mi></mml:mrow>\n</mml:mfenced>", "((a)b)"),
    ("<mml:ms>a b</mml:ms><mml:ms lquote='‹' rquote='›'>c</mml:ms>", '"a b"‹c›'),
])  # fmt: skip
def test_brackets_separators_and_quotes_of_attributes_are_text(formula: str, text: str) -> None:
    inside = f"<inline-formula><mml:math>{formula}</mml:math></inline-formula>"
    data = article(
        f"<sec><title>P{inside}</title><p>P{inside}.</p></sec>",
        f"<title-group><article-title>P{inside}</article-title></title-group>",
    )
    found = read(data)
    assert (found.title, found.body) == (f"P{text}", ((f"P{text}", f"P{text}."),))
    if "mml:ms" not in formula:
        assert words(found.body) == body_words(etree.fromstring(data), ())


def reference(kind: str, text: str) -> str:
    return f"<xref{f' ref-type={kind!r}' if kind else ''}>{text}</xref>"


@pytest.mark.parametrize(("marker", "text"), [
    *((reference(kind, "1"), "Outcome") for kind in ("fn", "table-fn", "author-notes", "corresp", "aff")),
    (f"<sup>{reference('fn', 'a')},{reference('fn', 'b')}</sup>", "Outcome"),
    (reference("fn", "<sup>1</sup>"), "Outcome"), (reference("", "*"), "Outcome"),
    (reference("other", "†"), "Outcome"), (f"<sup>{reference('', '12')}</sup>", "Outcome"),
    (reference("", "<sup>a</sup>"), "Outcome"),
    (f" (see {reference('', 'Box 1')})", "Outcome (see Box 1)"),
    (f" ({reference('table', 'Tables 2')} and {reference('fig', '4')})", "Outcome (Tables 2 and 4)"),
    (f" [{reference('bibr', '12')}]", "Outcome [12]"),
    (f" of {reference('bibr', 'Doe 1973')}", "Outcome of Doe 1973"),
    (f" ({reference('supplementary-material', 'Figure S2')})", "Outcome (Figure S2)"),
    (f" in {reference('sec', 'Methods')}, {reference('disp-formula', '(3)')}", "Outcome in Methods, (3)"),
])  # fmt: skip
def test_only_markers_of_footnotes_leave_titles(marker: str, text: str) -> None:
    title = f"Outcome{marker}"
    meta = f"<title-group><article-title>{title}</article-title></title-group>"
    found = read(article(f"<sec><title>{title}</title><p>It fell.</p></sec>", meta))
    assert (found.title, found.body) == (text, ((text, "It fell."),))


@pytest.mark.parametrize("name", ["floats-group", "floats-wrap"])
def test_floats_after_the_body_in_both_dtds(name: str) -> None:
    floats = (
        f"<{name}><fig><caption><p>A caption.</p></caption></fig>"
        f"<table-wrap><table><tr><td>7.5</td></tr></table></table-wrap></{name}>"
    )
    assert read(article("<p>See.</p>", after=floats), ()).body == (("", "See."), ("", "A caption.\n7.5"))
    answer = f"<response><body><p>Yes.</p></body>{floats}</response>"
    assert read(article("<p>See.</p>", after=answer), ()).body[1:] == (("", "Yes."), ("", "A caption.\n7.5"))


DOE = "<name><surname>Doe</surname><given-names>J</given-names></name>"


@pytest.mark.parametrize(("content", "text"), [
    ("<def-list><term-head>Term</term-head><def-head>Meaning</def-head><def-item><term>HR</term>"
     "<def><p>hazard ratio</p></def></def-item></def-list>", "Term Meaning\nHR\nhazard ratio"),
    ("<p>Thanks.</p><sig-block><sig>A. Author</sig><sig>B. Author</sig></sig-block>",
     "Thanks.\nA. Author B. Author"),
    ("<address><institution>A University</institution><addr-line>1 Main St</addr-line>"
     "<country>USA</country><email>a@b.org</email></address>", "A University 1 Main St USA a@b.org"),
    (f"<p>See <element-citation><person-group>{DOE}{DOE}</person-group><source><italic>Nature</italic>"
     "</source><year>2001</year></element-citation>.</p>", "See Doe J Doe J Nature 2001."),
    ("<p>In<product><source>A Book</source>, <year>2001</year>(<publisher-name>P</publisher-name>)"
     "</product>it says</p>", "In A Book, 2001 (P) it says"),
    ("<p>by <mixed-citation><surname>Doe</surname>, <given-names>J</given-names>. 1:<fpage>2</fpage>–"
     "<lpage>5</lpage></mixed-citation></p>", "by Doe, J. 1: 2–5"),
    ("<p>of <funding-source>NIH</funding-source><award-id>7</award-id>, and</p>", "of NIH 7, and"),
    ("<chem-struct-wrapper><caption><p>Benzene</p></caption><chem-struct>C<sub>6</sub>H<sub>6</sub>"
     "</chem-struct></chem-struct-wrapper>", "Benzene\nC6H6"),
    ("<gloss-group><def-list><def-item><term>HR</term><def><p>ratio</p></def></def-item></def-list>"
     "</gloss-group><p>x</p>", "HR\nratio\nx"),
    ("<p>a<unheard-of>b</unheard-of>c<unheard-of>d</unheard-of><unheard-of>e</unheard-of></p>", "a b c d e"),
    ("<p>a<italic>b</italic><monospace>c</monospace><sup>d</sup><styled-content>e</styled-content></p>",
     "abcde"),
])  # fmt: skip
def test_only_inline_tags_do_not_part_words(content: str, text: str) -> None:
    assert body(content, ()) == (("", text),)


MATH = "<mml:math><mml:mi>a</mml:mi><mml:mo>+</mml:mo><mml:mi>b</mml:mi></mml:math>"
SPELT = "<textual-form>a + b</textual-form>"


@pytest.mark.parametrize(("members", "text"), [
    (f"{SPELT}{MATH}", "a+b"), (f"{MATH}<tex-math>$a$</tex-math>{SPELT}", "a+b"),
    (f"<inline-graphic><alt-text>x</alt-text></inline-graphic>{SPELT}", "a + b"),
    (f"{SPELT}<textual-form>a plus b</textual-form>", "a + b"),
])  # fmt: skip
def test_a_formula_in_several_characters_is_text_once(members: str, text: str) -> None:
    inside = f"<inline-formula><alternatives>{members}</alternatives></inline-formula>"
    assert body(f"<p>for {inside}, so</p>") == (("", f"for {text}, so"),)


def test_titles_formulas_and_empty_sub_articles() -> None:
    title = "One<break/>two<xref ref-type='fn'>*</xref><fn><p>Note.</p></fn>, <italic>three</italic>"
    meta = f"<title-group><article-title>{title}</article-title></title-group>"
    assert read(article("<p>x</p>", meta)).title == "One two, three"
    assert body(f"<sec><title>{title}</title><p>x</p></sec>") == (("One two, three", "x"),)
    assert body("<sec><title>Aim<fn><p>note</p></fn>s of it</title><p>x</p></sec>", ()) == (
        ("Aim s of it", "x"),
    )
    row = "<mml:mrow> <mml:mi>a</mml:mi> \n<mml:mo>+</mml:mo>kept<mml:mi>b</mml:mi> </mml:mrow>"
    assert body(f"<p>x <mml:math> {row} </mml:math> y</p>") == (("", "x a+keptb y"),)
    either = "<alternatives> <mml:math><mml:mi>a</mml:mi></mml:math> <tex-math>b</tex-math> </alternatives>"
    assert body(f"<p>x<inline-formula>{either}</inline-formula>y</p>") == (("", "xay"),)
    reader = JatsReader(("sub-articles",))
    after = "<sub-article><front-stub/></sub-article><sub-article><body><p>r</p></body></sub-article>"
    reader(article("<p>x</p>", after=after), Document("pmc:7"), "x")
    assert reader.left_out == {"sub-article": 1}
