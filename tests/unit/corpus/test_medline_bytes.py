"""Citations in the usual form: the reader without a tree returns the same as the one with a tree."""

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.corpus import medline
from pubmill.corpus.medline import read_medline
from pubmill.corpus.medline_bytes import ARTICLE_END, read_usual
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from tests.unit.corpus.test_medline import HEAD
from tests.unit.corpus.test_medline_damage import DAMAGES, SEED, damaged

USUAL = """<PubmedArticle>
  <MedlineCitation Status="MEDLINE" Owner="NLM">
    <PMID Version="2">17</PMID>
    <DateCreated><Year>1999</Year><Month>01</Month><Day>02</Day></DateCreated>
    <DateCompleted><Year>1999</Year><Month>02</Month><Day>03</Day></DateCompleted>
    <DateRevised><Year>2020</Year><Month>3</Month><Day>04</Day></DateRevised>
    <Article PubModel="Print">
      <Journal><ISSN IssnType="Print">0000-0000</ISSN>
        <JournalIssue CitedMedium="Print"><Volume>1</Volume><Issue>2</Issue>
          <PubDate><MedlineDate>1998 Dec-1999 Jan</MedlineDate></PubDate></JournalIssue>
        <Title>J &amp; K</Title></Journal>
      <ArticleTitle>Of &lt;<i>E. coli</i>
        K12 and β-catenin.</ArticleTitle>
      <Pagination><MedlinePgn>1-2</MedlinePgn></Pagination>
      <ELocationID EIdType="doi" ValidYN="Y">10.1/x</ELocationID>
      <ELocationID EIdType="pii" ValidYN="Y">x</ELocationID>
      <Abstract>
        <AbstractText Label=" AIM" NlmCategory="OBJECTIVE">To see  x<sub>2<sup>3</sup></sub>.</AbstractText>
        <AbstractText Label="END">&#945; <mml:math><mml:mi>z</mml:mi></mml:math> rose.</AbstractText>
        <AbstractText NlmCategory="UNASSIGNED"> </AbstractText>
        <CopyrightInformation>© Them</CopyrightInformation>
      </Abstract>
      <AuthorList CompleteYN="Y"><Author ValidYN="Y"><LastName>A</LastName></Author></AuthorList>
      <Language>eng</Language><Language>Fre</Language>
      <DataBankList CompleteYN="Y"><DataBank><DataBankName>G</DataBankName></DataBank></DataBankList>
      <GrantList CompleteYN="Y"><Grant><Country>X</Country></Grant></GrantList>
      <PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType>
        <PublicationType>Review</PublicationType></PublicationTypeList>
      <VernacularTitle>V</VernacularTitle>
      <ArticleDate DateType="Electronic"><Year>2000</Year></ArticleDate>
    </Article>
    <CommentsCorrectionsList><CommentsCorrections RefType="Cites"><RefSource>J</RefSource>
      <PMID Version="1">5</PMID></CommentsCorrections></CommentsCorrectionsList>
    <OtherAbstract Type="Publisher" Language="fre"><AbstractText>Autre.</AbstractText></OtherAbstract>
  </MedlineCitation>
  <PubmedData><ArticleIdList><ArticleId IdType="pubmed">17</ArticleId></ArticleIdList></PubmedData>
"""
READ = Document(
    id="pmid:17", version=2, pmid="17", date="2020-03-04", published="1998", languages=("eng", "fre"),
    types=("Journal Article", "Review"), licence="© Them", title="Of <E. coli K12 and β-catenin.",
    sections=(("AIM", "To see x23."), ("END", "α z rose.")),
)  # fmt: skip
Outcome = list[Document] | str


def file_of(*articles: str) -> bytes:
    ended = (f"{article}{ARTICLE_END.decode()}\n" for article in articles)
    return f"{HEAD}<PubmedArticleSet>\n{''.join(ended)}</PubmedArticleSet>\n".encode()


def outcome(folder: Path, content: bytes, patch: pytest.MonkeyPatch, tree: bool) -> Outcome:
    path = folder / "pubmed26n0001.xml.gz"
    path.write_bytes(gzip.compress(content, 1, mtime=0))
    with patch.context() as scope:
        if tree:
            scope.setattr(medline, "read_usual", lambda article, text_of: None)
        try:
            return list(read_medline(path))
        except PubmillError as error:
            return str(error)


def same(folder: Path, content: bytes, patch: pytest.MonkeyPatch) -> Outcome:
    """Return the result, after a check that a tree gives the same."""
    found = outcome(folder, content, patch, tree=False)
    assert found == outcome(folder, content, patch, tree=True)
    return found


def test_every_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert same(tmp_path, file_of(USUAL), monkeypatch) == [READ]


@pytest.mark.parametrize("block", [997, 1 << 17])
def test_damage_has_the_same_outcome_as_with_a_tree(
    tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(medline, "BLOCK", block)
    draw = random.Random(f"{SEED} {block}")
    sound = file_of(USUAL, USUAL.replace("17<", "18<"), USUAL.replace("17<", "19<"))
    found = [same(tmp_path, damaged(sound, draw), monkeypatch) for _ in range(DAMAGES)]
    assert {type(one) for one in found} == {list, str}


@pytest.mark.parametrize(
    ("usual", "other"),
    [
        ("To see", "To <!-- not --> see"),
        ("To see", "To <?not x?> see"),
        ("To see", "<![CDATA[To <AbstractText> </PubmedArticle> see]]>"),
        ('Label=" AIM" NlmCategory="OBJECTIVE"', 'NlmCategory="OBJECTIVE" Label="AIM"'),
        ('Label=" AIM"', "Label='AIM'"),
        ('Label=" AIM"', 'Label="A &amp; B"'),
        ("<Abstract>", "<Abstract>text"),
        ("<Abstract>", "<Abstract><Abstract/>"),
        ("</Abstract>", "</Abstract><Abstract/>"),
        ("</Abstract>", "text</Abstract>"),
        ("</Abstract>", "<Other/></Abstract>"),
        ("<CopyrightInformation>© Them</CopyrightInformation>", ""),
        ("</Abstract>", "</Abstract><Journal/>"),
        ("<AuthorList ", "<AuthorList><AuthorList/></AuthorList><AuthorList "),
        ("</AuthorList>", "<AuthorList></AuthorList><ArticleTitle/></AuthorList>"),
        ("</Article>", "</Article><Article/>"),
        ("</Article>", "</Article><PMID>3</PMID>"),
        ("</Article>", "</Article><DateRevised><Year>2021</Year></DateRevised>"),
        ("</MedlineCitation>", "</MedlineCitation><MedlineCitation/>"),
        ("<PubmedArticle>", "<PubmedBookArticle/><PubmedArticle>"),
        ("<DateRevised><Year>2020</Year><Month>3</Month><Day>04</Day></DateRevised>", ""),
        ("<DateRevised><Year>2020</Year><Month>3</Month><Day>04</Day></DateRevised>", "<DateRevised/>"),
        ("1998 Dec-1999 Jan", "Winter"),
        ("1998 Dec-1999 Jan", "é1998 1999"),
        ("<DateRevised>", "<DateRevised><Hour>1</Hour>"),
        ('Version="2"', ""),
        (">17<", "> 17 <"),
        (">17<", ">seventeen<"),
        ("<Language>eng</Language>", ""),
        ("<Language>eng</Language>", "<Language/>"),
        ("<PublicationType>Review</PublicationType>", "<PublicationType/>"),
        ("Journal Article", "Journal &lt; Article"),
        ("K12", '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>K</mi></math>'),
        ("K12", "<x:y/>"),
        ("<LastName>A</LastName>", "<x:y/>"),
        ("<LastName>", "<LastName :a='b'>"),
        ("K12", "&undeclared;"),
        ("K12", "\x01"),
    ],
)
def test_other_forms_are_left_to_a_tree(
    tmp_path: Path, usual: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert usual in USUAL
    same(tmp_path, file_of(USUAL.replace(usual, other, 1), USUAL), monkeypatch)


@pytest.mark.parametrize(
    ("place", "inner"),
    [
        ("<PubmedData>", "<PubmedArticle></PubmedArticle><PubmedData>"),
        ("<PubmedData>", "<PubmedArticle><MedlineCitation/></PubmedArticle ><PubmedData>"),
        ("K12", "<PubmedArticle><MedlineCitation/></PubmedArticle>"),
    ],
)
def test_an_article_in_another_is_no_citation(
    tmp_path: Path, place: str, inner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = same(tmp_path, file_of(USUAL.replace(place, inner), USUAL), monkeypatch)
    assert [row.id for row in found if not isinstance(row, str)] == ["pmid:17", "pmid:17"]


FAKE = "<Abstract><AbstractText>FAKE</AbstractText></Abstract>"


@pytest.mark.parametrize(
    ("usual", "other"),
    [
        ("<MedlinePgn>1-2</MedlinePgn></Pagination>",
         f"<!-- </Pagination>{FAKE}<AuthorList> --></Pagination>"),
        ("<MedlinePgn>1-2</MedlinePgn></Pagination>",
         f"<?x </Pagination>{FAKE}<AuthorList> ?></Pagination>"),
        ("<MedlinePgn>1-2</MedlinePgn></Pagination>",
         f"<![CDATA[ </Pagination>{FAKE}<AuthorList> ]]></Pagination>"),
        ("<MedlinePgn>1-2</MedlinePgn></Pagination>",
         f"<Pagination></Pagination>{FAKE}<AuthorList></AuthorList></Pagination>"),
        ("</Pagination>", f"</Pagination ><x>{FAKE}<Pagination></Pagination></x>"),
        ('<AbstractText Label="END">', '<AbstractText Label="END"><AbstractText>nested</AbstractText>'),
        ('<AbstractText Label="END">', '<AbstractText Label="END"><AbstractText/>'),
        ("</ArticleTitle>", "</ArticleTitle >"),
        ("<MedlineCitation ", '<MedlineCitation xmlns="urn:x" '),
        ("<Article ", '<Article xmlns="urn:x" '),
        ("<JournalIssue ", '<JournalIssue xmlns="urn:x" '),
        ("<PubmedArticle>", '<PubmedArticle xmlns="urn:x">'),
        ("</Article>", '</Article><PMID>3</PMID><CommentsCorrections RefType="x"></CommentsCorrections>'),
        ("<PubmedArticle>", "<DeleteCitation><PMID>99</PMID></DeleteCitation><PubmedArticle>"),
        ("<PubmedArticle>", "<PubmedArticle><!-- </PubmedArticle> -->"),
        ("</MedlineCitation>", "</MedlineCitation><Journal/><Journal/>"),
        (">17<", f">{'1' * 5000}<"),
    ],
)  # fmt: skip
def test_what_a_pattern_cannot_distinguish_is_left_to_a_tree(
    tmp_path: Path, usual: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert usual in USUAL
    for block in (300, 1 << 17):
        monkeypatch.setattr(medline, "BLOCK", block)
        monkeypatch.setattr(medline, "HEAD_LIMIT", block)
        found = same(tmp_path, file_of(USUAL, USUAL.replace(usual, other, 1), USUAL), monkeypatch)
        assert "FAKE" not in str(found)


def test_a_date_of_revision_out_of_its_place_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    revised = "<DateRevised><Year>2020</Year><Month>3</Month><Day>04</Day></DateRevised>"
    moved = USUAL.replace(revised, "").replace("</Article>", f"</Article>{revised}")
    assert same(tmp_path, file_of(moved), monkeypatch) == [READ]


def test_the_text_of_a_second_article_is_never_taken_for_the_first_ones() -> None:
    merged = USUAL[: USUAL.index("<PubmedData>")] + USUAL[USUAL.index("<MedlineCitation") :]
    assert read_usual(merged.encode(), bytes.decode) is None


@settings(max_examples=100)
@given(
    text=st.text(
        st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\ufffe\uffff"), min_size=1
    )
)
def test_any_text(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    content = file_of(USUAL.replace("To see", escaped))
    with pytest.MonkeyPatch.context() as patch:
        assert isinstance(same(tmp_path_factory.mktemp("x"), content, patch), list)
