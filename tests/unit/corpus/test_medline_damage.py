"""PubMed files of unusual form and damaged ones: a clear error or what a plain tree has, never other text."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.corpus import medline
from pubmill.corpus.medline import read_medline
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from tests.attack.markup import is_malformed
from tests.attack.medline import MATHML, plain
from tests.unit.corpus.test_medline import HEAD

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
DELETED = "<DeleteCitation><PMID Version='1'>9</PMID></DeleteCitation>\n"
FAKE = "<Abstract><AbstractText>FAKE</AbstractText></Abstract>"


def file_of(*articles: str, more: str = "") -> bytes:
    ended = "".join(f"{article}</PubmedArticle>\n" for article in articles)
    return f"{HEAD}<PubmedArticleSet>\n{ended}{more}</PubmedArticleSet>\n".encode()


def by_a_tree(content: bytes) -> list[Document] | None:
    """By the standard library's parser, for which prefixes must be declared."""
    root = f'<PubmedArticleSet{MATHML} xmlns:x="urn:x">'.encode()
    return plain(content.replace(b"<PubmedArticleSet>", root, 1))


def read(folder: Path, content: bytes) -> list[Document] | None:
    """Read a file; None: an error names it."""
    path = folder / "pubmed26n0001.xml.gz"
    path.write_bytes(gzip.compress(content, 1, mtime=0))
    try:
        return list(read_medline(path))
    except PubmillError as error:
        assert path.name in str(error)
        return None


def test_every_field(tmp_path: Path) -> None:
    assert read(tmp_path, file_of(USUAL)) == [READ] == by_a_tree(file_of(USUAL))
    revised = "<DateRevised><Year>2020</Year><Month>3</Month><Day>04</Day></DateRevised>"
    moved = USUAL.replace(revised, "").replace("</Article>", f"</Article>{revised}")
    assert read(tmp_path, file_of(moved)) == [READ]


@settings(max_examples=60)
@given(data=st.data())
def test_damaged_packed_files_give_no_other_text(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    packed = bytearray(gzip.compress(file_of(USUAL), mtime=0))
    at = data.draw(st.integers(10, len(packed) - 1))  # the header's fields are no content
    packed[at] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("x") / "pubmed26n0001.xml.gz"
    path.write_bytes(packed)
    try:
        found = list(read_medline(path))
    except PubmillError as caught:
        assert path.name in str(caught)
    else:
        assert found == [READ]


@pytest.mark.parametrize("block", [300, 1 << 17])
@pytest.mark.parametrize(("usual", "other"), [
    ("To see", "To <!-- not --> see"), ("To see", "To <?not x?> see"),
    ("To see", "<![CDATA[To <AbstractText> </PubmedArticle> see]]>"),
    ('Label=" AIM" NlmCategory="OBJECTIVE"', 'NlmCategory="OBJECTIVE" Label="AIM"'),
    ('Label=" AIM"', "Label='AIM'"), ('Label=" AIM"', 'Label="A &amp; B"'), ("<Abstract>", "<Abstract>text"),
    ("<Abstract>", "<Abstract><Abstract/>"), ("</Abstract>", "</Abstract><Abstract/>"),
    ("</Abstract>", "text</Abstract>"), ("</Abstract>", "<Other/></Abstract>"),
    ("<CopyrightInformation>© Them</CopyrightInformation>", ""),
    ("</Abstract>", "</Abstract><Journal/>"),
    ("<AuthorList ", "<AuthorList><AuthorList/></AuthorList><AuthorList "),
    ("</AuthorList>", "<AuthorList></AuthorList><ArticleTitle/></AuthorList>"),
    ("</Article>", "</Article><Article/>"), ("</Article>", "</Article><PMID>3</PMID>"),
    ("</Article>", "</Article><DateRevised><Year>2021</Year></DateRevised>"),
    ("</MedlineCitation>", "</MedlineCitation><MedlineCitation/>"),
    ("<PubmedArticle>", "<PubmedBookArticle/><PubmedArticle>"),
    ("<DateRevised><Year>2020</Year><Month>3</Month><Day>04</Day></DateRevised>", ""),
    ("<DateRevised><Year>2020</Year><Month>3</Month><Day>04</Day></DateRevised>", "<DateRevised/>"),
    ("1998 Dec-1999 Jan", "Winter"), ("1998 Dec-1999 Jan", "é1998 1999"),
    ("<DateRevised>", "<DateRevised><Hour>1</Hour>"), ("<Day>04</Day></DateRevised>", "</DateRevised>"),
    ("<PMID Version=\"1\">5</PMID>", "<PMID Version='3'>5</PMID>"),
    ('Version="2"', ""), (">17<", "> 17 <"), (">17<", ">seventeen<"), ("<Language>eng</Language>", ""),
    ("<Language>eng</Language>", "<Language/>"),
    ("<PublicationType>Review</PublicationType>", "<PublicationType/>"),
    ("Journal Article", "Journal &lt; Article"),
    ("K12", '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>K</mi></math>'),
    ("K12", "<x:y/>"), ("<LastName>A</LastName>", "<x:y/>"), ("<LastName>", "<LastName :a='b'>"),
    ("K12", "&undeclared;"), ("K12", "\x01"),
    *(("<MedlinePgn>1-2</MedlinePgn></Pagination>", f"{hiding}</Pagination>") for hiding in (
        f"<!-- </Pagination>{FAKE}<AuthorList> -->", f"<?x </Pagination>{FAKE}<AuthorList> ?>",
        f"<![CDATA[ </Pagination>{FAKE}<AuthorList> ]]>",
        f"<Pagination></Pagination>{FAKE}<AuthorList></AuthorList>",
    )),
    ("</Pagination>", f"</Pagination ><x>{FAKE}<Pagination></Pagination></x>"),
    ('<AbstractText Label="END">', '<AbstractText Label="END"><AbstractText>nested</AbstractText>'),
    ('<AbstractText Label="END">', '<AbstractText Label="END"><AbstractText/>'),
    ("</ArticleTitle>", "</ArticleTitle >"),
    ("</ArticleTitle>", "</ArticleTitle><ArticleTitle>T</ArticleTitle>"),
    ("<MedlineCitation ", '<MedlineCitation xmlns="urn:x" '),
    ("<Article ", '<Article xmlns="urn:x" '), ("<JournalIssue ", '<JournalIssue xmlns="urn:x" '),
    ("<PubmedArticle>", '<PubmedArticle xmlns="urn:x">'),
    ("</Article>", '</Article><PMID>3</PMID><CommentsCorrections RefType="x"></CommentsCorrections>'),
    ("<PubmedArticle>", "<DeleteCitation><PMID>99</PMID></DeleteCitation><PubmedArticle>"),
    ("<PubmedArticle>", "<PubmedArticle><!-- </PubmedArticle> -->"),
    ("</MedlineCitation>", "</MedlineCitation><Journal/><Journal/>"),
    (">17<", f">{'1' * 5000}<"),
    ("<PubmedData>", "<PubmedArticle></PubmedArticle><PubmedData>"),
    ("<PubmedData>", "<PubmedArticle><MedlineCitation/></PubmedArticle ><PubmedData>"),
    ("K12", "<PubmedArticle><MedlineCitation/></PubmedArticle>"),
    ("</MedlineCitation>\n  <PubmedData>", USUAL[USUAL.index("<MedlineCitation") :]),
])  # fmt: skip
def test_other_forms_are_read_as_by_a_tree(
    tmp_path: Path, usual: str, other: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(medline, "BLOCK", block)
    monkeypatch.setattr(medline, "HEAD_LIMIT", max(block, len(HEAD) + 40))
    assert usual in USUAL
    content = file_of(USUAL, USUAL.replace(usual, other, 1), USUAL)
    found = read(tmp_path, content)
    assert found == by_a_tree(content) or (found is None and is_malformed(content))
    assert "FAKE" not in str(found)


@settings(max_examples=100)
@given(
    text=st.text(
        st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\ufffe\uffff"), min_size=1
    )
)
def test_any_text(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    content = file_of(USUAL.replace("To see", escaped))
    found = read(tmp_path_factory.mktemp("x"), content)
    assert found is not None and found == by_a_tree(content)
