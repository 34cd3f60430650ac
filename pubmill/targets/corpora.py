"""Sources, parsed shards and corpora."""

import itertools
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pubmill.errors import PubmillError
from pubmill.specs import PubmedSource
from pubmill.targets.base import Base

_RANGE = re.compile(r"^(\d\d)n(\d{4,})(?:-(\d\d)n(\d{4,}))?$")


def pubmed_files(source: PubmedSource) -> list[str]:
    """Relative paths of a PubMed source's files in NCBI's order: baseline, then updates, by number."""
    paths = []
    for folder in ("baseline", "updatefiles"):
        for written in source.files.get(folder, ()):
            matched = _RANGE.match(written)
            if not matched or (matched[3] and matched[3] != matched[1]):
                raise PubmillError(
                    f"source {source.name}: {folder}: {written!r} is no range of PubMed files; "
                    f"write 26n0001 or 26n0001-26n1334 (one year)"
                )
            year, first, last = matched[1], int(matched[2]), int(matched[4] or matched[2])
            paths += [f"{folder}/pubmed{year}n{number:04d}.xml.gz" for number in range(first, last + 1)]
    return paths


class CorpusTargets(Base):
    """From URLs to the parts of a corpus."""

    def source(self, url: str) -> str:
        """Where the file of a URL lies."""
        parts = urlsplit(url)
        return f"{self.results}/sources/{parts.netloc}{parts.path}"

    @cached_property
    def _known_files(self) -> dict[str, dict[str, Any]]:
        """Every URL that the specs name, with how its content is checked."""
        return dict(self._find_files())

    def _find_files(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every URL that the specs name, with how its content is checked."""
        for dataset in self.specs.datasets.values():
            for file in dataset.sources.values():
                yield file.url, {"url": file.url, "sha256": file.sha256, "md5_beside": False}
        for corpus in self.specs.corpora.values():
            for source in corpus.sources:
                if isinstance(source, PubmedSource):
                    for path in pubmed_files(source):
                        url = f"{source.url}/{path}"
                        yield url, {"url": url, "sha256": None, "md5_beside": True}
        for recipe in self.specs.pretraining.values():
            url = recipe.sentence_splitter
            yield url, {"url": url, "sha256": None, "md5_beside": False}

    def download(self, path: str) -> dict[str, Any]:
        """What to fetch for `sources/PATH`, and how to check it."""
        url = f"https://{path}"
        if url not in self._known_files:
            raise PubmillError(f"no spec names {url}, so pubmill does not know how to check it")
        return self._known_files[url]

    def download_checks(self, path: str) -> str:
        """The download program's arguments that say how the content is checked."""
        checks = self.download(path)
        if checks["md5_beside"]:
            return "--md5-beside"
        return f"--sha256 {checks['sha256']}" if checks["sha256"] else ""

    def parse_recipe(self, source: str) -> dict[str, Any]:
        return {"source": source}

    def shards(self, corpus: str) -> list[tuple[str, str, str]]:
        """(source, shard, raw file) of a corpus, in order of authority and then in NCBI's order."""
        found = []
        for source in self.specs.corpora[corpus].sources:
            if isinstance(source, PubmedSource):
                for path in pubmed_files(source):
                    shard = Path(path).name.removesuffix(".xml.gz")
                    found.append((source.name, shard, self.source(f"{source.url}/{path}")))
            else:
                for file in self._local_files(corpus, source.local, source.files):
                    found.append((source.name, file.name.split(".jsonl")[0], str(file)))
        return found

    def _local_files(self, corpus: str, key: str, pattern: str) -> list[Path]:
        folder = self.local(key, f"corpus {corpus}")
        files = sorted(folder.glob(pattern))
        if not files:
            raise PubmillError(
                f"corpus {corpus}: no file in {folder} matches {pattern!r} (local_files.{key})"
            )
        return files

    def raw(self, source: str, shard: str) -> str:
        """The raw file behind a parsed shard."""
        for corpus in self.specs.corpora:
            if any(s.name == source for s in self.specs.corpora[corpus].sources):
                for name, found, file in self.shards(corpus):
                    if (name, found) == (source, shard):
                        return file
        raise PubmillError(f"no corpus has a source {source!r} with a shard {shard!r}")

    def source_names(self, kind: str) -> list[str]:
        """Names of all sources of a kind."""
        return sorted({s.name for c in self.specs.corpora.values() for s in c.sources if s.kind == kind})

    def parsed(self, corpus: str) -> list[str]:
        """Parsed shards of a corpus, in the order of `shards`."""
        return [
            f"{self.results}/corpora/parsed/{name}/{shard}.parquet" for name, shard, _ in self.shards(corpus)
        ]

    def parts(self, corpus: str) -> list[str]:
        """Parts of a corpus, one a shard."""
        return [
            f"{self.results}/corpora/{corpus}/part-{i:04d}.parquet" for i, _ in enumerate(self.shards(corpus))
        ]

    def latest_recipe(self, corpus: str) -> dict[str, Any]:
        """Which sources, in order of authority, with how many shards each."""
        names = [name for name, _, _ in self.shards(corpus)]
        sources = [{"name": name, "shards": len(list(run))} for name, run in itertools.groupby(names)]
        return {"sources": sources}

    def selection_recipe(self, corpus: str) -> dict[str, Any]:
        """The filters of a corpus."""
        return self.specs.corpora[corpus].selection.model_dump(mode="json")
