"""Parsing of one file of a source, of any kind, into a parsed shard."""

from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from pubmill.corpus.clinical import read_notes
from pubmill.corpus.jats import JatsReader
from pubmill.corpus.medline import file_order, read_medline
from pubmill.corpus.own_texts import read_plain_text, read_text
from pubmill.corpus.packages import Article, package_order, read_fetched, read_package
from pubmill.corpus.pubmed_parser_reading import ArticleReader, read_medline_with_pubmed_parser
from pubmill.corpus.shards import UNREADABLE, Document, write_shard
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import ParsingRecipe
from pubmill.storage.result_paths import shard_name


def filelist_of(package: Path) -> Path:
    return package.with_name(f"{package.name.removesuffix('.tar.gz')}.filelist.csv")


def parse_file(recipe: ParsingRecipe, raw: Path, digest: str, output: Path) -> None:
    """Write the parsed shard of a file (see `pubmill.corpus.shards`) and print its counts.

    PubMed: every citation and every deletion; the file has its original name. PMC: one of its packages, or an
    archive of `pubmill.corpus.pmc`; articles without XML have neither title nor text. Notes of MIMIC-III are
    readable only by their owner. `digest`: the file's SHA-256.
    """
    order = 0
    jats = JatsReader(recipe.leave_out)
    match recipe.kind:
        case "pubmed":
            read = read_medline if recipe.parser == "pubmill" else read_medline_with_pubmed_parser
            documents, order = read(raw), file_order(raw)
        case "pmc" | "pmc-packages":
            if recipe.kind == "pmc":
                articles = read_fetched(raw)
            else:
                articles, order = read_package(raw, filelist_of(raw)), package_order(raw)
            unreadable = recipe.unreadable.get(shard_name(raw.name), ())
            read_article = jats if recipe.parser == "pubmill" else ArticleReader()
            documents = read_articles(raw, articles, read_article, unreadable)
        case "text":
            if recipe.documents == "json":
                documents = read_text(raw, recipe.source, recipe.language)
            else:
                documents = read_plain_text(raw, recipe.source, recipe.documents, recipe.language)
        case "mimic":
            documents = read_notes(raw, recipe.brackets)
    citations, deletions = write_shard(
        output, documents, source=recipe.source, file=raw.name, order=order, digest=digest,
        private=recipe.kind == "mimic",
    )  # fmt: skip
    print(f"{raw.name}: {citations} documents, {deletions} deletions")
    for what, found in (("left out", jats.left_out), ("abstracts kept in spite of their type", jats.typed)):
        if found:
            print(f"  {what}: {', '.join(f'{count} <{tag}>' for tag, count in sorted(found.items()))}")


def read_articles(
    path: Path,
    articles: Iterable[Article],
    read: Callable[[bytes, Document, str], Document],
    unreadable: Collection[str] = (),
) -> Iterator[Document]:
    """Yield the articles of the archive `path` as documents; `read` reads one.

    Articles without XML, and those listed in `unreadable` (`PMC7.1`), have neither title nor text; the listed
    ones get the flag `unreadable`. Raises `PubmillError` for any other article that cannot be read, and for
    listed articles that the archive lacks.
    """
    missing = set(unreadable)
    for article in articles:
        facts = article.facts
        name = f"PMC{facts.id.removeprefix('pmc:')}.{facts.version}"
        if name in unreadable:
            missing.discard(name)
            yield facts._replace(flags=(*facts.flags, UNREADABLE))
        elif article.data:
            try:
                yield read(article.data, facts, f"{path}:{article.name}")
            except PubmillError as error:
                shard = path.name.removesuffix(".tar.gz")
                raise PubmillError(
                    f"{error}\nThe archive itself is whole, so this is how the article was published. To "
                    f"build the corpus without it, write into the source in each corpus spec that has it\n"
                    f"    unreadable: {{{shard}: {{{name}: what is wrong with it}}}}\n"
                    f"It will be counted as `{UNREADABLE}`."
                ) from None
        else:
            yield facts
    if missing:
        raise PubmillError(
            f"{path}: lacks {min(missing)}, which the corpus spec calls unreadable; there may be another "
            f"version of it now. Remove the line from `unreadable:`."
        )
