"""MEDLINE XML as distributed by NCBI (DTD of 2025-01-01), with md5 files."""

import gzip
from hashlib import md5
from pathlib import Path
from xml.sax.saxutils import escape

from tests.world.citations import BASELINE, COPYRIGHT_WORD, DELETED, OTHER_ABSTRACT_WORD, Citation

FOLDER = "ftp.ncbi.nlm.nih.gov/pubmed"
_HEAD = (
    '<?xml version="1.0" encoding="utf-8"?>\n'
    '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n'
    "<PubmedArticleSet>\n"
)
_MATHML = "http://www.w3.org/1998/Math/MathML"
_MARKUP = {
    "siRNA": "<i>si<b>RNA</b></i>", "cDNA": "c<sub>D</sub><sup>NA</sup>", "( p &lt;": "( <i>p</i> &lt;",
    "(p &lt;": "(<i>p</i> &lt;",
    "k=2": f'<mml:math xmlns:mml="{_MATHML}"><mml:mi>k</mml:mi><mml:mo>=</mml:mo>'
    "<mml:mn>2</mml:mn></mml:math>",
}  # fmt: skip
"""Text, and the same text with inline elements, some nested."""


def _mixed(text: str) -> str:
    written = escape(text)
    for plain, marked in _MARKUP.items():
        written = written.replace(plain, marked)
    return written


def _date(element: str, year: int, pmid: int) -> str:
    month, day = pmid % 12 + 1, pmid % 28 + 1
    return f"<{element}><Year>{year}</Year><Month>{month:02}</Month><Day>{day:02}</Day></{element}>"


def _abstract(citation: Citation) -> str:
    if not citation.sections:
        return ""
    texts = [
        f'<AbstractText Label="{label}" NlmCategory="{label}">{_mixed(text)}</AbstractText>\n'
        if label
        else f"<AbstractText>{_mixed(text)}</AbstractText>\n"
        for label, text in citation.sections
    ]
    notice = f"Copyright © {citation.published} {COPYRIGHT_WORD}. All rights reserved."
    texts += [f"<CopyrightInformation>{notice}</CopyrightInformation>\n"] if citation.copyright else []
    return f"<Abstract>\n{''.join(texts)}</Abstract>\n"


def _article(citation: Citation) -> str:
    pmid, year = citation.pmid, citation.published
    vernacular = "<VernacularTitle>Étude inventée.</VernacularTitle>\n" if citation.language == "fre" else ""
    return (
        '<Article PubModel="Print">\n'
        '<Journal><ISSN IssnType="Print">0000-0000</ISSN><JournalIssue CitedMedium="Print">'
        f"<Volume>{pmid % 90 + 1}</Volume><PubDate><Year>{year}</Year></PubDate></JournalIssue>"
        "<Title>Journal of invented medicine</Title></Journal>\n"
        f"<ArticleTitle>{_mixed(citation.title)}</ArticleTitle>\n"
        f"<Pagination><MedlinePgn>{pmid % 500 + 1}</MedlinePgn></Pagination>\n"
        f"{_abstract(citation)}"
        '<AuthorList CompleteYN="Y"><Author ValidYN="Y"><LastName>Müller</LastName><ForeName>Zoë</ForeName>'
        "<Initials>Z</Initials></Author></AuthorList>\n"
        f"<Language>{citation.language}</Language>\n"
        '<PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType>'
        f"</PublicationTypeList>\n{vernacular}</Article>\n"
    )


def _record(citation: Citation) -> str:
    other = (
        '<OtherAbstract Type="Publisher" Language="ger"><AbstractText>'
        f"{OTHER_ABSTRACT_WORD}: ein anderer Text.</AbstractText></OtherAbstract>\n"
    )
    return (
        '<PubmedArticle>\n<MedlineCitation Status="MEDLINE" Owner="NLM">\n'
        f'<PMID Version="{citation.version}">{citation.pmid}</PMID>\n'
        f"{_date('DateRevised', citation.revised, citation.pmid)}\n{_article(citation)}"
        "<MedlineJournalInfo><MedlineTA>J Invent Med</MedlineTA></MedlineJournalInfo>\n"
        f"{other if citation.other_abstract else ''}</MedlineCitation>\n"
        "<PubmedData><PublicationStatus>ppublish</PublicationStatus><ArticleIdList>"
        f'<ArticleId IdType="pubmed">{citation.pmid}</ArticleId></ArticleIdList></PubmedData>\n'
        "</PubmedArticle>\n"
    )


def xml(name: str, citations: list[Citation]) -> bytes:
    """Return one PubMed file, not compressed, with deletions at its end."""
    pmids = "".join(f'<PMID Version="1">{pmid}</PMID>\n' for pmid in DELETED.get(name, ()))
    deletions = f"<DeleteCitation>\n{pmids}</DeleteCitation>\n" if pmids else ""
    return (_HEAD + "".join(map(_record, citations)) + deletions + "</PubmedArticleSet>\n").encode()


def write_medline(root: Path, files: dict[str, list[Citation]]) -> None:
    """Write every file and its md5 below the mirror's root."""
    for name, citations in files.items():
        folder = root / FOLDER / ("baseline" if name in BASELINE else "updatefiles")
        folder.mkdir(parents=True, exist_ok=True)
        packed = gzip.compress(xml(name, citations), 6, mtime=0)
        (folder / f"{name}.xml.gz").write_bytes(packed)
        (folder / f"{name}.xml.gz.md5").write_text(f"MD5({name}.xml.gz)= {md5(packed).hexdigest()}\n")
