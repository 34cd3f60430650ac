"""The parts of a corpus: their paths, and their texts as vocabularies and packing must read them."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pubmill.errors import PubmillError
from pubmill.storage.parquet import open_parquet, verified
from pubmill.storage.privacy import CREDENTIALED, PUBLIC, known_class, strictest
from pubmill.storage.result_paths import part_name

# str.split breaks words at these control characters; BERT's normaliser deletes them: a\x1cb becomes ab
_DELETED = re.compile("[\x0b\x0c\x1c-\x1f\x85]")


def part_files(folder: Path, count: int) -> list[Path]:
    """Return the paths of the parts of the corpus in `folder`, in order.

    The caller states their number, because a search could find an old part of a corpus that has lost a shard.
    Commands state it rather than each path, because the paths of a whole baseline would exceed the length
    limit of a shell command.
    """
    return [folder / part_name(number) for number in range(count)]


def access_of_parts(parts: Iterable[Path]) -> str:
    """Return the strictest access class in the metadata of Parquet files; public if none has a class."""
    return strictest(map(_access_class, parts))


def _access_class(part: Path) -> str:
    try:
        metadata = pq.read_metadata(verified(part)).metadata or {}
    except (pa.ArrowException, OSError) as error:
        raise PubmillError(
            f"{part}: not readable as Parquet ({error}); delete it and make it again"
        ) from None
    if metadata.get(b"private") == b"yes":  # the key of parsed shards
        return CREDENTIALED
    return known_class(metadata.get(b"access", PUBLIC.encode()).decode("utf-8", "replace"), part)


def read_texts(parts: Iterable[Path], title: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the ids and texts of the documents of corpus parts, in order, holding only a few in memory. With
    `title`, a document's title precedes its text on a line of its own."""
    columns = ["id", "title", "text"] if title else ["id", "text"]
    for part in parts:
        try:
            with open_parquet(part) as file:
                for batch in file.iter_batches(1000, columns=columns):
                    rows = zip(*batch.to_pydict().values(), strict=True)
                    yield from ((name, "\n".join(texts)) for name, *texts in rows)
        except (pa.ArrowException, OSError, TypeError, KeyError) as error:
            raise PubmillError(f"{part}: no readable corpus part with columns {columns}: {error}") from None


def split_words(text: str) -> list[str]:
    """Split a text at white space, which no token of a BERT vocabulary ever spans."""
    return _DELETED.sub("", text).split()
