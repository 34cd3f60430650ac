"""Compare the words of articles' bodies with NCBI's own rendering of them.

python -m tests.ncbi_rendering REAL_DATA JATS_HTML_XSL

REAL_DATA is the folder of `PUBMILL_REAL_DATA`; JATS_HTML_XSL is `xslt/main/jats-html.xsl` of a clone of
ncbi/JATSPreviewStylesheets. Words that the stylesheet makes itself are left out on its side: footers,
generated labels, and what it shows for links and references without text (their address or label).
"""

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lxml import etree

from pubmill.corpus.jats import NEVER, JatsReader
from tests.acceptance.test_pmc_real import articles_of
from tests.articles import PARTING, words, written_out

LINKS = ("xref", "ext-link", "uri", "email", "inline-supplementary-material")
GENERATED = "//*[@class = 'generated' or @class = 'footer' or @id = 'footer' or self::head]"
BLOCKS = {
    "blockquote", "body", "br", "caption", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "li", "ol", "p", "pre", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
}  # fmt: skip


def body_of(data: bytes) -> Any:
    """Return an article with its body alone, and without titles of sections and what is never text."""
    tree = etree.fromstring(data, etree.XMLParser(remove_comments=True, remove_pis=True))
    root: Any = written_out(tree).getroot()
    taken = [*root.iter("front", "front-stub", "back")]
    taken += [title for title in root.iter("title") if title.getparent().tag in ("sec", "body")]
    taken += [link for link in root.iter(*LINKS) if not "".join(link.itertext()).strip()]
    for element in taken:
        element.tag = "taken"
    etree.strip_elements(root, "taken", *NEVER, with_tail=False)
    front = etree.Element("front")
    front.extend([etree.Element("journal-meta"), etree.Element("article-meta")])
    root.insert(0, front)
    return root


def rendered_words(render: etree.XSLT, data: bytes) -> Counter[str]:
    """Count the words of the page that the stylesheet makes of an article's body."""
    page: Any = render(body_of(data)).getroot()
    for element in page.xpath(GENERATED):
        element.tag = "taken"
    etree.strip_elements(page, "taken", with_tail=False)
    for element in page.iter(*BLOCKS, *PARTING):
        element.text, element.tail = f" {element.text or ''}", f" {element.tail or ''}"
    return Counter("".join(page.itertext()).split())


def main(real_data: str, stylesheet: str) -> None:
    """Print the words that only one side has, by article, and their number."""
    render, read, total, apart = etree.XSLT(etree.parse(stylesheet)), JatsReader(()), 0, 0
    with TemporaryDirectory() as folder:
        for article in articles_of(Path(real_data), Path(folder)):
            ours = words(read(article.data, article.facts, article.name).body)
            theirs = rendered_words(render, article.data)
            total += ours.total()
            if theirs != ours:
                apart += ((theirs - ours) + (ours - theirs)).total()
                print(f"{article.name}: stylesheet {dict(theirs - ours)}, pubmill {dict(ours - theirs)}")
    print(f"{apart} words apart, of {total}")


if __name__ == "__main__":
    main(*sys.argv[1:])
