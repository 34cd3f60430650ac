"""Conversion of an archive's articles into documents, by the parser that a spec names."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from pubmill.corpus.jats import JatsReader
from pubmill.corpus.packages import Article
from pubmill.corpus.pubmed_parser_reading import ArticleReader
from pubmill.corpus.shards import UNREADABLE, Document
from pubmill.errors import PubmillError

Reader = ArticleReader | JatsReader


def read_articles(
    path: Path,
    articles: Iterable[Article],
    parser: str,
    leave_out: Collection[str],
    left_out: Counter[str],
    unreadable: Collection[str] = (),
    typed: Counter[str] | None = None,
) -> Iterator[Document]:
    """Yield the articles of the archive `path` as documents; `left_out` counts elements left out by tag, and
    `typed` abstracts that are text in spite of a type.

    Articles without XML, and those listed in `unreadable` (`PMC7.1`), have neither title nor text; the listed
    ones get the flag `unreadable`. Raises `PubmillError` for any other article that cannot be read, and for
    listed articles that the archive lacks.
    """
    read: Reader = ArticleReader() if parser == "pubmed_parser" else JatsReader(leave_out, left_out, typed)
    missing = set(unreadable)
    for article in articles:
        if article.facts.name in unreadable:
            missing.discard(article.facts.name)
            yield article.facts.document(UNREADABLE)
        elif article.data:
            yield _read_article(read, article, path)
        else:
            yield article.facts.document()
    if missing:
        raise PubmillError(
            f"{path}: lacks {min(missing)}, which the corpus spec calls unreadable; there may be another "
            f"version of it now. Remove the line from `unreadable:`."
        )


def _read_article(read: Reader, article: Article, path: Path) -> Document:
    try:
        return read(article.data, article.facts, f"{path}:{article.name}")
    except PubmillError as error:
        shard = path.name.removesuffix(".tar.gz")
        raise PubmillError(
            f"{error}\nThe archive itself is whole, so this is how the article was published. To build the "
            f"corpus without it, write into the source in each corpus spec that has it\n"
            f"    unreadable: {{{shard}: {{{article.facts.name}: what is wrong with it}}}}\n"
            f"It will be counted as `{UNREADABLE}`."
        ) from None
