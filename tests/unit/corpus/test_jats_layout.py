"""Text of articles: line breaks in titles, white space of formulas, and sub-articles without text."""

from pubmill.corpus.article_metadata import ArticleMetadata
from pubmill.corpus.jats import JatsReader
from tests.unit.corpus.test_jats import article, body, read


def test_sub_articles_without_a_body_are_not_counted_as_left_out() -> None:
    reader = JatsReader(("sub-articles",))
    after = "<sub-article><front-stub/></sub-article><sub-article><body><p>r</p></body></sub-article>"
    reader(article("<p>x</p>", after=after), ArticleMetadata(pmcid=7), "x")
    assert reader.left_out == {"sub-article": 1}


def test_a_break_in_a_title_is_a_space_and_its_marks_are_left_out() -> None:
    title = "One<break/>two<xref ref-type='fn'>*</xref><fn><p>Note.</p></fn>, <italic>three</italic>"
    meta = f"<title-group><article-title>{title}</article-title></title-group>"
    assert read(article("<p>x</p>", meta)).title == "One two, three"
    assert body(f"<sec><title>{title}</title><p>x</p></sec>") == (("One two, three", "x"),)


def test_only_the_layout_of_a_formula_is_removed() -> None:
    row = "<mml:mrow> <mml:mi>a</mml:mi> \n<mml:mo>+</mml:mo>kept<mml:mi>b</mml:mi> </mml:mrow>"
    assert body(f"<p>x <mml:math> {row} </mml:math> y</p>") == (("", "x a+keptb y"),)
    either = "<alternatives> <mml:math><mml:mi>a</mml:mi></mml:math> <tex-math>b</tex-math> </alternatives>"
    assert body(f"<p>x<inline-formula>{either}</inline-formula>y</p>") == (("", "xay"),)
