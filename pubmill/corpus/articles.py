"""Articles of an archive as documents, by the parser that a spec names."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from pubmill.corpus.facts import Facts
from pubmill.corpus.jats import JatsReader
from pubmill.corpus.packages import Article
from pubmill.corpus.shards import Document
from pubmill.corpus.with_pubmed_parser import ArticleReader

Reader = Callable[[bytes, Facts, str], Document]


def read_articles(
    path: Path, articles: Iterable[Article], parser: str, leave_out: Collection[str], left_out: Counter[str]
) -> Iterator[Document]:
    """Read the articles of the archive `path`; `left_out` counts the elements that are left out.

    An article without XML has neither title nor text.
    """
    read: Reader = ArticleReader() if parser == "pubmed_parser" else JatsReader(leave_out, left_out)
    for article in articles:
        if article.data:
            yield read(article.data, article.facts, f"{path}:{article.name}")
        else:
            yield article.facts.document()
