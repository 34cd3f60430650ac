"""Cross-checks of corpora: their references exist, and a source name has one meaning in all corpora."""

from collections.abc import Iterator, Mapping

from pubmill.specs.corpus_specs import CorpusSpec
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.strict_yaml import Location

_WHICH_FILES = {"files", "articles", "packages"}
"""Keys of a source that select its files but do not affect how one is read. A parsed file belongs to its
source and is shared by all corpora with that source."""

Fault = tuple[str, Location, str]


def faults_of_corpora(
    corpora: Mapping[str, CorpusSpec], datasets: Mapping[str, DatasetSpec]
) -> Iterator[Fault]:
    """Yield each fault as (corpus, location in its spec, message)."""
    yield from _ambiguous_sources(corpora)
    for name, corpus in corpora.items():
        sources = [source.name for source in corpus.sources]
        for i, source in enumerate(sources):
            if source in sources[:i]:
                yield name, ("sources", i, "name"), f"another source of this corpus is also called {source}"
        for source in sorted(corpus.selections.keys() - set(sources)):
            yield name, ("selections", source), f"this corpus has no source {source}"
        for dataset in corpus.contamination.datasets if corpus.contamination else ():
            if dataset not in datasets:
                place = ("contamination", "datasets")
                yield name, place, f"there is no specs/datasets/{dataset}.yaml"


def _ambiguous_sources(corpora: Mapping[str, CorpusSpec]) -> Iterator[Fault]:
    """Report sources that share a name across corpora but are read differently."""
    known: dict[str, tuple[str, dict[str, object]]] = {}
    for name, corpus in corpora.items():
        for i, source in enumerate(corpus.sources):
            reading = source.model_dump(exclude=_WHICH_FILES)
            first, other = known.setdefault(source.name, (name, reading))
            different = sorted(key for key in reading | other if reading.get(key) != other.get(key))
            if different and first != name:
                keys = ", ".join(different)
                fault = f"specs/corpora/{first}.yaml has a source {source.name} with a different {keys}"
                yield name, ("sources", i, "name"), f"{fault}; rename one"
