"""Reasons why the documents of a shard do not enter a corpus, without regard to duplicates."""

from collections.abc import Iterator
from pathlib import Path

from pubmill.corpus.contamination import EvaluationTexts
from pubmill.corpus.document_versions import read_reasons
from pubmill.corpus.filters import rejection, selected_sections
from pubmill.corpus.shards import Document, joined, read_shard
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import SelectionRecipe


def with_reasons(
    shard: Path, index: int, latest: Path, selection: SelectionRecipe, excluded: EvaluationTexts | None
) -> Iterator[tuple[int, Document, str | None]]:
    """Yield (position, document, reason or None) for each citation of a parsed shard.

    `index` is the shard's index in `latest`. The first reason counts: first that the citation is not current,
    then the filters, then `contamination`: it contains one of the `excluded` texts.
    """
    reasons = read_reasons(latest, index)
    for position, document in read_shard(shard):
        current, reason = next(reasons, (None, None))
        if current != position:
            raise PubmillError(
                f"{latest} knows position {current} where {shard} has position {position} ({document.id}): "
                f"it was made from other shards. Delete it and run again."
            )
        reason = reason or rejection(document, selection)
        if reason is None and excluded is not None:
            text = f"{document.title}\n{joined(selected_sections(document, selection))}"
            reason = "contamination" if excluded.matches(document.pmid, text) else None
        yield position, document, reason
