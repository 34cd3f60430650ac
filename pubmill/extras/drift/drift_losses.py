"""Losses and subwords of held-out documents by date of publication.

Dates are the years of the corpus's parsed shards and the months of PubMed's files.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from pubmill.corpus.dataset_documents import wanted_rows
from pubmill.corpus.gzipped import BROKEN, open_gzip
from pubmill.corpus.medline_bytes import ARTICLE_END
from pubmill.errors import PubmillError
from pubmill.examples.sentences import SentenceSplitter
from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.extras.drift.drift_recipes import DriftRecipe
from pubmill.pretraining import checkpoints
from pubmill.pretraining.distributed import join
from pubmill.pretraining.encoding import make_encoder, special_ids
from pubmill.pretraining.engine import Pretraining, masked_sums
from pubmill.pretraining.instances import Instances
from pubmill.pretraining.masking import read_vocabulary
from pubmill.pretraining.packed_tokens import PackedTokens, write_packed
from pubmill.pretraining.packing import is_held_out, pack_documents
from pubmill.pretraining.segments import configure
from pubmill.report.charts import DatedFit, DatedLoss, Drift
from pubmill.storage.parquet import read_texts, split_words
from pubmill.vocabs.dataset_fit import Fit, Pieces

YEAR = 4
"""Characters of a date's year."""
CHUNK = 1 << 22
_PMID = re.compile(rb'<PMID Version="[0-9]+">([0-9]+)</PMID>')
_PRINTED = re.compile(rb"<PubDate>\s*<Year>\s*([0-9]{4})\s*</Year>\s*<Month>\s*([A-Za-z]{3}|[0-9]{1,2})")
NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTHS = {name: n for n, name in enumerate(NAMES, 1)} | {
    f"{n:{pad}}": n for n in range(1, 13) for pad in ("", "02")
}
"""What PubMed calls a month, in lower case -> its number."""


class DatedText(NamedTuple):
    """A held-out document; `date`: YYYY-MM, YYYY or empty."""

    date: str
    text: str


class Places(NamedTuple):
    """Folders and files that drift is measured from: of the checkpoint, the corpus, its parsed shards, the
    vocabulary and the sentence splitter; `results`: the folder of PubMed's files."""

    checkpoint: Path
    parts: Sequence[Path]
    parsed: Path
    results: Path
    vocab: Path
    punkt: Path


def measure_drift(recipe: DriftRecipe, places: Places, packed: Path) -> Drift:
    """Measure a checkpoint on the held-out documents of its corpus; `packed`: folder for their tokens.

    The masks of a document are the same for every recipe with the same vocabulary. Documents without tokens
    or year are counted as undated.
    """
    dated = sorted(dated_texts(recipe, places))
    known = [one for one in dated if one.date]
    months = losses(recipe, places, known, packed) if known else {}
    years = groupby(months, key=lambda date: date[:YEAR])
    return Drift(
        recipe=recipe.recipe,
        step=recipe.step,
        corpus=recipe.corpus,
        documents=len(dated),
        undated=len(dated) - len(known),
        months=tuple(_loss(date, [sums]) for date, sums in months.items() if len(date) > YEAR),
        years=tuple(_loss(year, [months[date] for date in dates]) for year, dates in years),
        fit=tuple(fits(load_tokenizer(places.vocab), known)),
    )


def dated_texts(recipe: DriftRecipe, places: Places) -> Iterator[DatedText]:
    """Yield the held-out documents of a corpus with their dates."""
    for part, shard in zip(places.parts, recipe.shards, strict=True):
        documents = read_texts([part], recipe.packing.title)
        texts = {name: text for name, text in documents if is_held_out(name, recipe.packing.held_out)}
        if texts:
            file = places.results / shard.file if shard.file else None
            dates = dates_of(texts.keys(), places.parsed / shard.parsed, file)
            yield from (DatedText(dates.get(name, ""), text) for name, text in texts.items())


class DatedSums(NamedTuple):
    """Sums over the documents of a date."""

    documents: int
    masked: int
    loss: float


def losses(
    recipe: DriftRecipe, places: Places, dated: Sequence[DatedText], folder: Path
) -> dict[str, DatedSums]:
    """Return the sums of the loss by date, for documents in the order of their dates."""
    tokenizer = load_tokenizer(places.vocab)
    encoder, splitter = make_encoder(tokenizer), SentenceSplitter(places.punkt)
    shards = [pack_documents([one.text], splitter, encoder) for one in dated]
    dates = [one.date for one, shard in zip(dated, shards, strict=True) if len(shard.documents)]
    write_packed(folder, shards, tokenizer.get_vocab_size(), special_ids(tokenizer, places.vocab))
    packed, world = PackedTokens(folder), join()
    configure(world.device)
    work = Pretraining(recipe.pretraining, packed, read_vocabulary(places.vocab, packed.special), world)
    checkpoints.load(places.checkpoint, work)
    objective = replace(recipe.pretraining.objective, pairs="none", sequences="document")
    instances = Instances(packed, replace(recipe.pretraining, objective=objective))
    documents = np.searchsorted(instances.document_starts, instances.starts[:-1], side="right") - 1
    by_date = {}
    for date in sorted(set(dates)):
        chosen = np.flatnonzero(np.array(dates)[documents] == date)
        sums = masked_sums(work, instances, chosen)
        by_date[date] = DatedSums(dates.count(date), int(sums["masked"]), sums["mlm_loss"])
    return {date: sums for date, sums in by_date.items() if sums.masked}


def _loss(date: str, sums: Sequence[DatedSums]) -> DatedLoss:
    documents, masked, loss = (sum(values) for values in zip(*sums, strict=True))
    return DatedLoss(date=date, documents=int(documents), masked=int(masked), loss=loss / masked)


def fits(tokenizer: Tokenizer, dated: Sequence[DatedText]) -> Iterator[DatedFit]:
    """Yield the fit of a vocabulary to the words of each year, for documents in the order of their dates."""
    pieces = Pieces(tokenizer)
    for year, documents in groupby(dated, key=lambda one: one.date[:YEAR]):
        texts = [one.text for one in documents]
        fit: Fit = pieces.fit(word for text in texts for word in split_words(text))
        if fit.words:
            yield DatedFit(
                date=year,
                documents=len(texts),
                words=fit.words,
                subwords_per_word=fit.pieces / fit.words,
                split_words=fit.split / fit.words,
                unknown_words=fit.unknown / fit.words,
            )


def dates_of(names: Collection[str], shard: Path, file: Path | None) -> dict[str, str]:
    """Return the dates of documents, by id: YYYY-MM, or YYYY where the source has no month.

    `shard`: the parsed shard with all of them; `file`: its PubMed file, if it is from PubMed. A later row
    about a document replaces an earlier one. Documents without a year are left out.
    """
    rows = wanted_rows(shard, "id", pa.array(sorted(names), pa.string()), ["id", "pmid", "published"])
    by_id = {row["id"]: row for row in rows.to_pylist()}
    months = months_of({row["pmid"] for row in by_id.values() if row["pmid"]}, file) if file else {}
    dates = {name: months.get(row["pmid"], row["published"]) for name, row in by_id.items()}
    return {name: date for name, date in dates.items() if date}


def months_of(pmids: Collection[str], file: Path) -> dict[str, str]:
    """Return the months in which a PubMed file says that citations were published, YYYY-MM by PMID."""
    months: dict[str, str] = {}
    for article in _articles(file):
        number = _PMID.search(article)
        if number is None or (pmid := str(int(number[1]))) not in pmids:
            continue
        printed = _PRINTED.search(article, number.end())
        if printed and (month := MONTHS.get(printed[2].decode().lower())):
            months[pmid] = f"{printed[1].decode()}-{month:02d}"
        else:
            months.pop(pmid, None)
    return months


def _articles(file: Path) -> Iterator[bytes]:
    """Yield the citations of a PubMed file, each up to its end tag."""
    rest = b""
    try:
        with open_gzip(file) as content:
            while chunk := content.read(CHUNK):
                *whole, rest = (rest + chunk).split(ARTICLE_END)
                yield from whole
    except BROKEN as error:
        raise PubmillError(f"{file}: not a whole gzip file: {error}. Delete it and fetch it again") from None
