"""Corpus parts and their statistics: every parsed citation becomes a document or has a rejection reason."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from pubmill.corpus.contamination import EvaluationTexts
from pubmill.corpus.filters import selected_sections, with_reasons
from pubmill.corpus.shards import count_words, is_private, joined, read_reasons, read_source
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import SelectionRecipe
from pubmill.storage.files import read_json, sealed, write_json, writing
from pubmill.storage.parquet import open_parquet, parquet_writer

_KEYS = [("id", pa.string()), ("version", pa.int32()), ("date", pa.string())]
MANIFEST = pa.schema([*_KEYS, ("part", pa.string()), ("row", pa.int64())])
_TEXTS = [("title", pa.string()), ("text", pa.string())]
PART = pa.schema(
    [*_KEYS[:2], ("pmid", pa.string()), _KEYS[2], *_TEXTS, ("words", pa.int32()), ("bytes", pa.int64())]
)
ROWS_PER_GROUP = 4096
SAMPLES = 5
TOTALS = ("parsed", "deletions", "documents", "words", "bytes")


class _Tally:
    """Counts of one shard or of several; `samples` contains the first ids of each reason."""

    def __init__(self) -> None:
        self.totals = Counter(dict.fromkeys(TOTALS, 0))
        self.rejected, self.years, self.flags = Counter[str](), Counter[str](), Counter[str]()
        self.day = ""
        self.samples: dict[str, list[str]] = {}

    def add(self, one: Mapping[str, Any]) -> None:
        self.totals.update({key: one[key] for key in TOTALS})
        self.rejected.update(one["rejected"])
        self.years.update(one["years"])
        self.flags.update(one["flags"])
        self.day = max(self.day, one["day"])
        for reason, ids in one["samples"].items():
            self.samples[reason] = (self.samples.get(reason, []) + ids)[:SAMPLES]

    def as_json(self) -> dict[str, Any]:
        """Return the statistics: `TOTALS`, rejected citations by reason, with samples of ids, and selected
        documents by year and by flag. `day` is the latest day of revision of a selected document."""
        counted = {"rejected": self.rejected, "years": self.years, "flags": self.flags}
        counts = {name: dict(count) for name, count in counted.items()}
        return {**self.totals, **counts, "samples": self.samples, "day": self.day}


def select(
    shard: Path,
    index: int,
    latest: Path,
    selection: SelectionRecipe,
    part: Path,
    statistics: Path,
    excluded: EvaluationTexts | None = None,
    duplicates: Path | None = None,
) -> None:
    """Write the part of a corpus that comes from one parsed shard, and its statistics.

    `index` is the shard's index in `latest` and in `duplicates`. Citations are rejected in this order: those
    that are not current, by the filters, those that contain an `excluded` text, and duplicates. `words` of a
    part are counted as by the filters; `bytes` are those of `text` in UTF-8.
    """
    source, citations, deletions = read_source(shard)
    tally = _Tally()
    tally.totals["deletions"] = deletions
    copies = read_reasons(duplicates, index) if duplicates else {}

    def selected() -> Iterator[dict[str, str | int]]:
        """Count every citation; yield the rows of the part."""
        met = 0
        for position, document, reason in with_reasons(shard, index, latest, selection, excluded):
            if reason is None and position in copies:
                reason = copies[position]
                met += 1
            tally.totals["parsed"] += 1
            if reason:
                tally.rejected[reason] += 1
                sample = tally.samples.setdefault(reason, [])
                if len(sample) < SAMPLES:
                    sample.append(document.id)
                continue
            sections = selected_sections(document, selection)
            text = joined(sections)
            words, size = count_words(sections), len(text.encode())
            tally.totals.update(documents=1, words=words, bytes=size)
            tally.years[document.published or "unknown"] += 1
            tally.flags.update(document.flags)
            tally.day = max(tally.day, document.date)
            yield {
                "id": document.id, "version": document.version, "pmid": document.pmid, "date": document.date,
                "title": document.title, "text": text, "words": words, "bytes": size,
            }  # fmt: skip
        if met != len(copies):
            raise PubmillError(
                f"{len(copies) - met} of the duplicates were rejected before: the list was made with other "
                f"filters. Delete it and run again."
            )

    rows = selected()
    with writing(part) as temporary, parquet_writer(temporary, PART, is_private(shard)) as writer:
        while group := list(islice(rows, ROWS_PER_GROUP)):
            writer.write_table(pa.Table.from_pylist(group, PART))
    if tally.totals["parsed"] != citations:
        raise PubmillError(f"{shard}: holds {citations} citations, read {tally.totals['parsed']}")
    write_json(statistics, sealed({"source": source, **tally.as_json()}))


def write_manifest(path: Path, parts: Sequence[Path]) -> list[int]:
    """Write id, version, date, part and row of every document of a corpus; return the rows of each part."""
    rows = []
    with writing(path) as temporary, parquet_writer(temporary, MANIFEST) as writer:
        for part in parts:
            row = 0
            for batch in open_parquet(part).iter_batches(columns=["id", "version", "date"]):
                names = pa.array([part.stem] * len(batch), pa.string())
                numbers = pa.array(range(row, row + len(batch)), pa.int64())
                writer.write_table(pa.table([*batch.columns, names, numbers], schema=MANIFEST))
                row += len(batch)
            rows.append(row)
    return rows


def total(statistics: Sequence[Path], rows: Sequence[int]) -> dict[str, Any]:
    """Add up the statistics of all parts; `rows` are the numbers of documents found in each part. Raises
    `PubmillError` if a part does not match its statistics, or if documents and rejections do not add up to
    the parsed citations."""
    whole, by_source = _Tally(), defaultdict[str, _Tally](_Tally)
    for path, number in zip(statistics, rows, strict=True):
        one = read_json(path)
        accounted = one["documents"] + sum(one["rejected"].values())
        if one["parsed"] != accounted:
            raise PubmillError(
                f"{path}: parsed {one['parsed']} but kept and rejected {accounted}; select again"
            )
        if one["documents"] != number:
            raise PubmillError(
                f"{path}: says {one['documents']} documents, its part holds {number}; select again"
            )
        whole.add(one)
        by_source[one["source"]].add(one)
    parts = {name: {**one.totals, "rejected": dict(one.rejected)} for name, one in by_source.items()}
    return {**whole.as_json(), "by_source": parts}
