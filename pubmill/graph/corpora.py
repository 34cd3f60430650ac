"""Sources, parsed shards and corpora."""

import itertools
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.graph.base import Base
from pubmill.graph.pmc_shards import packages, pmc_shards
from pubmill.specs import (
    ArchiveWeights,
    File,
    MimicSource,
    PmcPackagesSource,
    PmcSource,
    PubmedSource,
    Specs,
    TextSource,
)
from pubmill.specs.corpora import Source
from pubmill.specs.study import Study
from pubmill.storage.name_patterns import FILE, FILE_WORDS, fits

_RANGE = re.compile(r"^(\d\d)n(\d{4,})(?:-(\d\d)n(\d{4,}))?$")

_ENDING = re.compile(r"(\.jsonl|\.txt|\.csv)?(\.gz)?$")


def pubmed_files(source: PubmedSource) -> list[str]:
    """Relative paths of a PubMed source's files in NCBI's order: baseline, then updates, by number."""
    paths = []
    for folder in ("baseline", "updatefiles"):
        for written in source.files.get(folder, ()):
            matched = _RANGE.match(written)
            last = matched and (matched[3] or matched[1], int(matched[4] or matched[2]))
            if not matched or not last or last < (matched[1], int(matched[2])) or last[0] != matched[1]:
                raise PubmillError(
                    f"source {source.name}: {folder}: {written!r} is no range of PubMed files; "
                    f"write 26n0001 or 26n0001-26n1334 (one year)"
                )
            numbers = range(int(matched[2]), last[1] + 1)
            paths += [f"{folder}/pubmed{matched[1]}n{number:04d}.xml.gz" for number in numbers]
    return paths


def _check(file: File) -> list[str]:
    """The download program's arguments that check a dataset's file."""
    if file.git_blob:
        return ["--git-blob", file.git_blob]
    return ["--sha256", file.sha256] if file.sha256 else []


class Shard(NamedTuple):
    """One file of a source: the source's name, the shard's, and where the raw file lies."""

    source: str
    name: str
    file: str


class CorpusTargets(Base):
    """Sources, shards and parts of corpora."""

    def __init__(self, study: Study, specs: Specs) -> None:
        super().__init__(study, specs)
        self._shards: dict[str, list[Shard]] = {}
        self._files: dict[tuple[str, str], dict[str, str]] = {}

    def source(self, url: str) -> str:
        """Return the path of the copy of the file of a URL."""
        return self.paths.source_of_url(url)

    @cached_property
    def _checks(self) -> dict[str, list[str]]:
        """Every URL that the specs name, with the download program's arguments that check its content."""
        return dict(self._find_checks())

    def _find_checks(self) -> Iterator[tuple[str, list[str]]]:
        for corpus in self.specs.corpora.values():
            for source in corpus.sources:
                if isinstance(source, PubmedSource):
                    for path in pubmed_files(source):
                        yield f"{source.url}/{path}", ["--md5-beside"]
                if isinstance(source, PmcPackagesSource):
                    for path in source.packages:
                        yield f"{source.url}/{path}.tar.gz", []
                        yield f"{source.url}/{path}.filelist.csv", []
        for recipe in self.specs.pretraining.values():
            yield recipe.sentence_splitter, []
        for dataset in self.specs.datasets.values():
            for file in dataset.sources.values():
                if isinstance(file, File):
                    yield file.url, _check(file)
        for model in self.specs.models.values():
            if isinstance(model.released, ArchiveWeights):
                found = model.released.sha256
                yield model.released.url, ["--sha256", found] if found else []

    def download_checks(self, url: str) -> list[str]:
        """The download program's arguments that say how the content of a URL is checked."""
        if url not in self._checks:
            raise PubmillError(f"no spec names {url}, so pubmill does not know how to check it")
        return self._checks[url]

    def parse_recipe(self, source: str, shard: str) -> dict[str, Any]:
        """Return the parsing recipe of a file of a source; corpora that share a source agree on it."""
        spec = self.source_spec(source)
        recipe: dict[str, Any] = {"source": source}
        # Only what differs from the default is named, so that a new choice reruns nothing.
        if isinstance(spec, PubmedSource) and spec.parser != "pubmill":
            recipe["parser"] = spec.parser
        if isinstance(spec, PmcSource | PmcPackagesSource):
            recipe |= {"parser": spec.parser, "leave_out": sorted(spec.leave_out)}
            if shard in spec.unreadable:
                recipe["unreadable"] = sorted(spec.unreadable[shard])
        if isinstance(spec, TextSource):
            recipe |= spec.model_dump(include={"documents", "language"}, exclude_defaults=True)
        if isinstance(spec, MimicSource):
            recipe["brackets"] = spec.brackets
        return recipe

    def source_spec(self, name: str) -> Source:
        """The spec of a source, by its name."""
        for corpus in self.specs.corpora.values():
            for source in corpus.sources:
                if source.name == name:
                    return source
        raise PubmillError(f"no corpus has a source {name!r}")

    def shards(self, corpus: str) -> list[Shard]:
        """The shards of a corpus, in order of authority and then in NCBI's order."""
        if corpus not in self._shards:
            self._shards[corpus] = list(self._find_shards(corpus))
        return self._shards[corpus]

    def _find_shards(self, corpus: str) -> Iterator[Shard]:
        for source in self.specs.corpora[corpus].sources:
            yield from self._shards_of(corpus, source)

    def _shards_of(self, corpus: str, source: Source) -> Iterator[Shard]:
        """The shards of one source."""
        if isinstance(source, PubmedSource):
            for path in pubmed_files(source):
                name = Path(path).name.removesuffix(".xml.gz")
                yield Shard(source.name, name, self.source(f"{source.url}/{path}"))
        elif isinstance(source, PmcSource):
            for name in pmc_shards(source):
                yield Shard(source.name, name, self.paths.pmc_archive(source.name, name))
        elif isinstance(source, PmcPackagesSource):
            for name, path in packages(source).items():
                yield Shard(source.name, name, self.source(f"{source.url}/{path}.tar.gz"))
        else:
            pattern, who = (source.files, corpus) if isinstance(source, TextSource) else (
                source.file, f"{corpus} (MIMIC-III, to be applied for at {source.apply})"
            )  # fmt: skip
            for name, file in self._local_files(who, source.local, pattern).items():
                yield Shard(source.name, name, self.paths.local_source(source.local, file.name))

    def _local_files(self, corpus: str, key: str, pattern: str) -> dict[str, Path]:
        """Name of the shard -> file of the user's own."""
        folder = self.local(key, f"corpus {corpus}")
        files = sorted(folder.glob(pattern))
        if not files:
            raise PubmillError(
                f"corpus {corpus}: no file in {folder} matches {pattern!r} (local_files.{key})"
            )
        if strange := [file.name for file in files if not fits(FILE, file.name)]:
            raise PubmillError(
                f"corpus {corpus}: {folder} (local_files.{key}): a file is called {strange[0]!a}; expected "
                f"{FILE_WORDS}. Rename it, or let `files:` of the source match others"
            )
        names = [_ENDING.sub("", file.name) for file in files]
        alike = sorted({name for name in names if names.count(name) > 1})
        if alike:
            raise PubmillError(
                f"corpus {corpus}: several files in {folder} are called {alike[0]}, but for their endings; "
                f"let `files:` of the source match one of them, or rename them"
            )
        return dict(zip(names, files, strict=True))

    def raw(self, source: str, shard: str) -> str:
        """The raw file behind a parsed shard."""
        for corpus, spec in self.specs.corpora.items():
            for one in spec.sources:
                found = self._files_of(corpus, one) if one.name == source else {}
                if shard in found:
                    return found[shard]
        raise PubmillError(f"no corpus has a source {source!r} with a shard {shard!r}")

    def _files_of(self, corpus: str, source: Source) -> dict[str, str]:
        """Raw files of one source by shard; the corpus's other sources may not be at hand."""
        key = (corpus, source.name)
        if key not in self._files:
            self._files[key] = {shard.name: shard.file for shard in self._shards_of(corpus, source)}
        return self._files[key]

    def filelists(self, source: str, shard: str) -> list[str]:
        """The file list beside the package behind a parsed shard; none where the source has no packages."""
        spec = self.source_spec(source)
        if not isinstance(spec, PmcPackagesSource):
            return []
        return [self.source(f"{spec.url}/{packages(spec)[shard]}.filelist.csv")]

    def source_names(self, kind: str) -> list[str]:
        """Names of all sources of a kind."""
        return sorted({s.name for c in self.specs.corpora.values() for s in c.sources if s.kind == kind})

    def parsed(self, corpus: str) -> list[str]:
        """Parsed shards of a corpus, in the order of `shards`."""
        return [self.parsed_part(corpus, part) for part in range(len(self.shards(corpus)))]

    def parsed_part(self, corpus: str, part: int) -> str:
        """The parsed shard behind one part: a job of a part doesn't go through all the others."""
        shard = self.shards(corpus)[part]
        return self.paths.parsed_shard(shard.source, shard.name)

    def parts(self, corpus: str) -> list[str]:
        """Parts of a corpus, one a shard."""
        return [self.paths.part(corpus, i) for i in range(len(self.shards(corpus)))]

    def latest_recipe(self, corpus: str) -> dict[str, Any]:
        """Which sources, in order of authority, with the names of their shards in NCBI's order.

        The names stand here, and not on the command line as paths: those of a whole baseline would be
        longer than a shell command may be.
        """
        runs = itertools.groupby(self.shards(corpus), key=lambda shard: shard.source)
        return {"sources": [{"name": name, "shards": [shard.name for shard in run]} for name, run in runs]}

    def lock_recipe(self, corpus: str) -> dict[str, Any]:
        """The source files of a corpus, in order of loading; those of one folder together, to be short."""
        places = [(shard.source, Path(shard.file)) for shard in self.shards(corpus)]
        runs = itertools.groupby(places, key=lambda place: (place[0], place[1].parent))
        sources = self.paths.sources()
        return {
            "files": [
                {
                    "source": source,
                    "folder": folder.relative_to(sources).as_posix(),
                    "names": [path.name for _, path in run],
                }
                for (source, folder), run in runs
            ]
        }

    def locked(self) -> list[str]:
        """Corpora that are built again from a lock."""
        return [name for name, spec in self.specs.corpora.items() if spec.lock]

    def lock(self, corpus: str) -> str:
        """Where the copy of the lock lies that a corpus is built again from."""
        lock = self.specs.corpora[corpus].lock
        if lock is None:
            raise PubmillError(f"corpus {corpus} names no lock; write `lock: {{local: KEY}}` into its spec")
        return self.paths.local_source(lock.local, lock.file)

    def selection_recipe(self, corpus: str, part: int = 0) -> dict[str, Any]:
        """The filters of a corpus, as they are for the source of one of its parts."""
        source = self.shards(corpus)[part].source
        return self.specs.corpora[corpus].selection_of(source).model_dump(mode="json")
