"""Whether the corpora fit together: their sources are known by name, and shared by those that name them."""

from collections.abc import Iterator, Mapping
from typing import Any

from pubmill.specs.corpora import CorpusSpec
from pubmill.specs.datasets import DatasetSpec
from pubmill.strict_yaml import Location

_MAY_DIFFER = {"files", "selection"}
"""Of a source's keys those that decide which files there are and which documents are taken, not how one file
is read: a parsed file belongs to its source, and all corpora with that source share it."""


def faults_of_corpora(
    corpora: Mapping[str, CorpusSpec], datasets: Mapping[str, DatasetSpec]
) -> Iterator[tuple[str, Location, str]]:
    """Corpus, place and fault: sources that go by the name of another, datasets that don't exist."""
    known: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, corpus in corpora.items():
        seen = set()
        for i, source in enumerate(corpus.sources):
            at: Location = ("sources", i, "name")
            if source.name in seen:
                yield name, at, f"another source of this corpus is called {source.name} too"
            seen.add(source.name)
            reading = source.model_dump(exclude=_MAY_DIFFER)
            first, other = known.setdefault(source.name, (name, reading))
            different = sorted(key for key in reading | other if reading.get(key) != other.get(key))
            if different:
                yield (
                    name,
                    at,
                    (
                        f"the source {source.name} of specs/corpora/{first}.yaml has another "
                        f"{', '.join(different)}; give this one another name"
                    ),
                )
        for dataset in corpus.contamination.datasets if corpus.contamination else ():
            if dataset not in datasets:
                at = ("contamination", "datasets")
                yield name, at, f"there is no specs/datasets/{dataset}.yaml"
