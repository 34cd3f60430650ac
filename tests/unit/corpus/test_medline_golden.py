"""Text that other readers of PubMed lose, truncate, join or invent."""

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from pubmill.corpus.filters import rejection
from pubmill.corpus.shards import Document, joined
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import SelectionRecipe
from tests.unit.corpus.test_medline import abstract, articles, citation, read

MATHML = 'xmlns:mml="http://www.w3.org/1998/Math/MathML"'


@pytest.mark.parametrize(("written", "text"), [
    ("levels of <i>TP53</i> rose", "levels of TP53 rose"),  # cut at the first inline tag
    ("<i>TP<sub>53</sub></i> rose", "TP53 rose"),  # the second level lost
    ("<b><i><u>a<sup>b<sub>c</sub>d</sup>e</u></i>f</b>g", "abcdefg"),
    ("<b>A</b> <i>b</i> c", "A b c"),  # the blank between tags lost
    ("CO<sub>2</sub> and Ca<sup>2+</sup>", "CO2 and Ca2+"),
    ("β-catenin, &#947;, &#x3b1;-syn", "β-catenin, γ, α-syn"),  # Greek letters stripped
    ("p &lt; 0.05 &amp; q &gt; 1", "p < 0.05 & q > 1"),
    ("&amp;lt; stays", "&lt; stays"),  # unescaped twice
    ("<mml:math><mml:mrow><mml:mi>x</mml:mi><mml:mo>=</mml:mo><mml:mn>1</mml:mn></mml:mrow></mml:math> y",
     "x=1 y"),
    (f"<mml:math {MATHML}><mml:mi>z</mml:mi></mml:math>.", "z."),
    ("a<DispFormula><mml:math><mml:mi>b</mml:mi></mml:math></DispFormula>c", "abc"),
    ("one<![CDATA[ <two> & ]]>three", "one <two> & three"),
    ("one\n      two\t three&#13;four ", "one two three four"),
    ("\u00a0five\u2003six\u00a0", "\u00a0five\u2003six\u00a0"),
    ("long note (ABSTRACT TRUNCATED AT 250 WORDS)", "long note (ABSTRACT TRUNCATED AT 250 WORDS)"),
    ("long note [ABSTRACT TRUNCATED AT 400 WORDS]", "long note [ABSTRACT TRUNCATED AT 400 WORDS]"),
])  # fmt: skip
def test_text_is_whole(tmp_path: Path, written: str, text: str) -> None:
    assert abstract(tmp_path, f"<AbstractText>{written}</AbstractText>") == (("", text),)
    (document,) = read(tmp_path, articles(citation(1, f"<ArticleTitle>{written}</ArticleTitle>")))
    assert document.title == text


def test_labelled_sections_stay_apart_and_in_order(tmp_path: Path) -> None:
    content = (
        '<AbstractText Label="METHODS AND RESULTS" NlmCategory="METHODS">We <b>did</b>.</AbstractText>'
        '<AbstractText Label="UNLABELLED">Then.</AbstractText><AbstractText NlmCategory="RESULTS">So.'
        '</AbstractText><AbstractText Label="METHODS AND RESULTS">Again.</AbstractText>'
    )
    found = abstract(tmp_path, content)
    assert found == (
        ("METHODS AND RESULTS", "We did."), ("UNLABELLED", "Then."), ("", "So."),
        ("METHODS AND RESULTS", "Again."),
    )  # fmt: skip
    assert joined(found).splitlines()[2] == "So."


def other(kind: str, text: str) -> str:
    return f'<OtherAbstract Type="{kind}" Language="fre"><AbstractText>{text}</AbstractText></OtherAbstract>'


@pytest.mark.parametrize("own", ["", "<Abstract><AbstractText>Own.</AbstractText></Abstract>"])
def test_other_abstracts_are_never_the_abstract(tmp_path: Path, own: str) -> None:
    made = citation(1, own).replace(
        "</MedlineCitation>", other("Publisher", "Autre.") + other("plain", "X") + "</MedlineCitation>"
    )
    (document,) = read(tmp_path, articles(made))
    assert document.sections == ((("", "Own."),) if own else ())


def test_copyright_and_original_titles_are_no_text(tmp_path: Path) -> None:
    made = (
        "<Abstract><AbstractText>Text. Copyright 2020 in the text stays.</AbstractText>"
        "<CopyrightInformation>© 2020 Them.</CopyrightInformation></Abstract>"
    )
    (document,) = read(tmp_path, articles(citation(1, made)))
    assert document.sections == (("", "Text. Copyright 2020 in the text stays."),)
    assert document.licence == "© 2020 Them."
    translated = (
        "<ArticleTitle>[Über <i>E. coli</i>: a case].</ArticleTitle><Language>ger</Language>"
        "<VernacularTitle>Ein Fall</VernacularTitle>"
    )
    (document,) = read(tmp_path, articles(citation(1, translated)))
    assert (document.title, document.languages) == ("[Über E. coli: a case].", ("ger",))
    (document,) = read(tmp_path, articles(citation(1, "")))
    assert document == Document(id="pmid:1", pmid="1", date="2026-01-09")


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_unicode_is_kept_in_its_form(tmp_path: Path, form: Any) -> None:
    text = unicodedata.normalize(form, "Ångström ﬁbre µm² Ω e\u0301 한")
    special = "soft\u00adhyphen zero\u200bwidth thin\u2009space 𝛼 emoji 🧬"
    found = abstract(tmp_path, f"<AbstractText>{text}</AbstractText><AbstractText>{special}</AbstractText>")
    assert found == (("", text), ("", special))


def test_a_book_is_a_row_without_text_that_selections_leave_out_and_count(tmp_path: Path) -> None:
    book = (
        "<PubmedBookArticle><BookDocument><PMID Version='2'>8</PMID><Abstract><AbstractText>no</AbstractText>"
        "</Abstract></BookDocument></PubmedBookArticle>"
    )
    found = read(tmp_path, articles(citation(1)) + book + articles(citation(2)))
    assert [row.id for row in found] == ["pmid:1", "pmid:8", "pmid:2"]
    assert found[1] == Document(id="pmid:8", version=2, pmid="8", flags=("book",))
    assert rejection(found[1], SelectionRecipe()) == "book"


@pytest.mark.parametrize(
    "book", ["", "<BookDocument/>", "<BookDocument><PMID>1</PMID><PMID>2</PMID></BookDocument>"]
)
def test_a_book_has_one_pmid(tmp_path: Path, book: str) -> None:
    with pytest.raises(PubmillError, match="without <BookDocument>|without <PMID>|<PMID> more than once"):
        read(tmp_path, f"<PubmedBookArticle>{book}</PubmedBookArticle>")


@pytest.mark.parametrize("root", ["PubmedArticleSet", "MedlineCitationSet"])
def test_old_and_new_roots_give_the_same(tmp_path: Path, root: str) -> None:
    text = "<Abstract><AbstractText>a <i>b</i></AbstractText></Abstract>"
    content = [citation(1, text), citation(2, text)]
    made = articles(*content) if root == "PubmedArticleSet" else "\n".join(content)
    found = read(tmp_path, made + "<DeleteCitation><PMID>3</PMID></DeleteCitation>", root=root)
    assert [(row.id, row.deleted, row.sections) for row in found] == [
        ("pmid:1", False, (("", "a b"),)), ("pmid:2", False, (("", "a b"),)), ("pmid:3", True, ()),
    ]  # fmt: skip
