"""Sources, parsed shards and corpora."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.messages.wording import repeated
from pubmill.recipes import corpora
from pubmill.specs import corpus_specs
from pubmill.stages.costs import MEASURED_FILES, PMC_SHARD
from pubmill.stages.source_jobs import packages, pmc_shards, pubmed_files
from pubmill.stages.stage import (
    ASSUMED,
    HOUR,
    Bytes,
    FileStage,
    GraphPart,
    Inputs,
    Needs,
    Origin,
    Seconds,
    Stage,
    remembered,
)
from pubmill.storage.name_patterns import FILE, FILE_WORDS, fits
from pubmill.storage.result_paths import STATISTICS

_ENDING = re.compile(r"(\.jsonl|\.txt|\.csv)?(\.gz)?$")


class Shard(NamedTuple):
    """One file of a source: the source's name, the shard's, and where the raw file lies."""

    source: str
    name: str
    file: str


class Corpora(GraphPart):
    """Sources, shards and parts of corpora."""

    def parse_recipe(self, source: str, shard: str) -> corpora.ParsingRecipe:
        """Return the parsing recipe of a file of a source; corpora that share a source agree on it."""
        spec = self.source(source)
        match spec:
            case corpus_specs.PubmedSource():
                return corpora.MedlineParsingRecipe(source=source, parser=spec.parser)
            case corpus_specs.TextSource():
                return corpora.TextParsingRecipe(
                    source=source, documents=spec.documents, language=spec.language
                )
            case corpus_specs.MimicSource():
                return corpora.ClinicalParsingRecipe(source=source, brackets=spec.brackets)
        return corpora.PmcParsingRecipe(
            source=source,
            parser=spec.parser,
            leave_out=tuple(sorted(spec.leave_out)),
            unreadable=tuple(sorted(spec.unreadable.get(shard, ()))),
        )

    def source(self, name: str) -> corpus_specs.Source:
        """Return the spec of a source, by its name."""
        sources = (source for corpus in self._specs.corpora.values() for source in corpus.sources)
        if found := next((source for source in sources if source.name == name), None):
            return found
        raise PubmillError(f"no corpus has a source {name!r}")

    @remembered
    def shards(self, corpus: str) -> list[Shard]:
        """Return the shards of a corpus, in order of authority and then in NCBI's order."""
        sources = self._specs.corpora[corpus].sources
        return [shard for source in sources for shard in self._shards_of(corpus, source)]

    def _shards_of(self, corpus: str, source: corpus_specs.Source) -> Iterator[Shard]:
        """Yield the shards of one source."""
        if isinstance(source, corpus_specs.PubmedSource):
            for path in pubmed_files(source):
                name = Path(path).name.removesuffix(".xml.gz")
                yield Shard(source.name, name, self._paths.source_of_url(f"{source.url}/{path}"))
        elif isinstance(source, corpus_specs.PmcSource):
            for name in pmc_shards(source):
                yield Shard(source.name, name, self._paths.pmc_archive(source.name, name))
        elif isinstance(source, corpus_specs.PmcPackagesSource):
            for name, path in packages(source).items():
                yield Shard(source.name, name, self._paths.source_of_url(f"{source.url}/{path}.tar.gz"))
        else:
            pattern, who = (source.files, corpus) if isinstance(source, corpus_specs.TextSource) else (
                source.file, f"{corpus} (MIMIC-III, to be applied for at {source.apply})"
            )  # fmt: skip
            for name, file in self._local_files(who, source.local, pattern).items():
                yield Shard(source.name, name, self._paths.local_source(source.local, file.name))

    def _local_files(self, corpus: str, key: str, pattern: str) -> dict[str, Path]:
        """Return the user's files of a source, by the names of their shards."""
        folder = self.graph.folders.require(key, f"corpus {corpus}")
        if not folder.is_dir():
            raise PubmillError(f"corpus {corpus}: {folder} (local_files.{key}) is not a folder")
        if not (files := sorted(folder.glob(pattern))):
            raise PubmillError(
                f"corpus {corpus}: no file in {folder} matches {pattern!r} (local_files.{key})"
            )
        if strange := [file.name for file in files if not fits(FILE, file.name)]:
            raise PubmillError(
                f"corpus {corpus}: {folder} (local_files.{key}): a file is called {strange[0]!a}; expected "
                f"{FILE_WORDS}. Rename it, or let `files:` of the source match others"
            )
        names = [_ENDING.sub("", file.name) for file in files]
        if alike := repeated(names):
            raise PubmillError(
                f"corpus {corpus}: several files in {folder} are called {alike[0]}, but for their endings; "
                f"let `files:` of the source match one of them, or rename them"
            )
        return dict(zip(names, files, strict=True))

    def raw(self, source: str, shard: str) -> str:
        """Return the raw file behind a parsed shard."""
        return self.files_with(source, shard)[shard]

    def files_with(self, source: str, shard: str) -> dict[str, str]:
        """Return raw files by shard, of the first corpus with such a source that has this shard."""
        for corpus, spec in self._specs.corpora.items():
            if any(one.name == source for one in spec.sources):
                files = self._files_of(corpus, source)
                if shard in files:
                    return files
        raise PubmillError(f"no corpus has a source {source!r} with a shard {shard!r}")

    @remembered
    def _files_of(self, corpus: str, source: str) -> dict[str, str]:
        """Return raw files of one source by shard; the corpus's other sources may be unavailable."""
        spec = next(one for one in self._specs.corpora[corpus].sources if one.name == source)
        return {shard.name: shard.file for shard in self._shards_of(corpus, spec)}

    def filelists(self, source: str, shard: str) -> list[str]:
        """Return the file list of the package behind a parsed shard; none if the source has no packages."""
        spec = self.source(source)
        if not isinstance(spec, corpus_specs.PmcPackagesSource):
            return []
        return [self._paths.source_of_url(f"{spec.url}/{packages(spec)[shard]}.filelist.csv")]

    def source_names(self, kind: str) -> list[str]:
        """Return the names of all sources of a kind."""
        return sorted({s.name for c in self._specs.corpora.values() for s in c.sources if s.kind == kind})

    def parsed(self, corpus: str) -> list[str]:
        """Return the parsed shards of a corpus, in the order of `shards`."""
        return [self.parsed_part(corpus, part) for part in range(len(self.shards(corpus)))]

    def parsed_part(self, corpus: str, part: int) -> str:
        """Return the parsed shard behind one part, without visiting the other parts."""
        shard = self.shards(corpus)[part]
        return self._paths.parsed_shard(shard.source, shard.name)

    def parts(self, corpus: str) -> list[str]:
        """Return the parts of a corpus, one for each shard."""
        return [self._paths.part(corpus, i) for i in range(len(self.shards(corpus)))]

    def latest_recipe(self, corpus: str) -> corpora.LatestRecipe:
        """Return the sources of a corpus in order of authority, each with its shards in NCBI's order."""
        runs = itertools.groupby(self.shards(corpus), key=lambda shard: shard.source)
        return corpora.LatestRecipe(
            sources=tuple(
                corpora.SourceShards(name=name, shards=tuple(shard.name for shard in run))
                for name, run in runs
            )
        )

    def lock_recipe(self, corpus: str) -> corpora.LockRecipe:
        """Return the source files of a corpus, in order of loading, by folder to keep the text short."""
        places = [(shard.source, Path(shard.file)) for shard in self.shards(corpus)]
        runs = itertools.groupby(places, key=lambda place: (place[0], place[1].parent))
        sources = self._paths.sources()
        return corpora.LockRecipe(
            files=tuple(
                corpora.SourceFolder(
                    source=source,
                    folder=folder.relative_to(sources).as_posix(),
                    names=tuple(path.name for _, path in run),
                )
                for (source, folder), run in runs
            )
        )

    def locked(self) -> list[str]:
        """Return the corpora that are rebuilt from a lock."""
        return [name for name, spec in self._specs.corpora.items() if spec.lock]

    def lock(self, corpus: str) -> str:
        """Return the copy of the lock from which a corpus is rebuilt."""
        lock = self._specs.corpora[corpus].lock
        if lock is None:
            raise PubmillError(f"corpus {corpus} names no lock; write `lock: {{local: KEY}}` into its spec")
        return self._paths.local_source(lock.local, lock.file)


class ParsingStage(FileStage):
    """Documents of a file of a source."""

    group, label = "parse", "Parsing {input.raw}"
    version = 8

    def inputs_of(self, wildcards: Any) -> Inputs:
        return {"raw": self.graph.corpora.raw(wildcards.source, wildcards.shard)}

    def place_of(self, wildcards: Any) -> int:
        return list(self.graph.corpora.files_with(wildcards.source, wildcards.shard)).index(wildcards.shard)

    def owner_of(self, wildcards: Any) -> str:
        return str(wildcards.source)

    def recipe_of(self, wildcards: Any) -> corpora.ParsingRecipe:
        return self.graph.corpora.parse_recipe(wildcards.source, wildcards.shard)

    def described(self, wildcards: Any) -> None:
        """Return None: `SelectDocuments.described` has the corpus spec, which has the source's settings."""


class ParseMedline(ParsingStage):
    """Documents of a PubMed file."""

    name = "parse_medline"
    seconds = Seconds(4.6, MEASURED_FILES)

    def bytes_of(self, wildcards: Any) -> Bytes:
        return Bytes(disk=22e6)


class ParsePmc(ParsingStage):
    """Documents of a shard of PMC."""

    name = "parse_pmc"
    version = 9
    needs = Needs(1_000, 4 * HOUR)
    seconds = Seconds(6_000 / 1_300, "measured an article: benchmarks/README.md; assumed: 6,000 in a shard")

    def bytes_of(self, wildcards: Any) -> Bytes:
        return Bytes(disk=PMC_SHARD)

    def inputs_of(self, wildcards: Any) -> Inputs:
        filelists = self.graph.corpora.filelists(wildcards.source, wildcards.shard)
        return {**super().inputs_of(wildcards), "filelists": filelists}


class ParseText(ParsingStage):
    """Documents of a text file of the user's own."""

    name = "parse_text"


class ParseClinical(ParsingStage):
    """Notes of MIMIC-III."""

    name = "parse_clinical"


PARSERS: dict[str, type[ParsingStage]] = {
    "pubmed": ParseMedline,
    "pmc": ParsePmc,
    "pmc-packages": ParsePmc,
    "text": ParseText,
    "mimic": ParseClinical,
}
"""Kind of source -> the stage that parses its files."""


class LatestVersions(Stage):
    """The latest version of each document of a corpus."""

    name, group = "latest_versions", "select"
    label = "Finding the latest version of each document of {wildcards.corpus}"
    version = 1
    needs = Needs(4_000, 2 * HOUR)  # measured: 2.3 GB for 40 million ids
    seconds = Seconds(60, "measured: benchmarks/README.md, 40 million ids")

    def inputs_of(self, wildcards: Any) -> Inputs:
        return {"parsed": self.graph.corpora.parsed(wildcards.corpus)}

    def recipe_of(self, wildcards: Any) -> corpora.LatestRecipe:
        return self.graph.corpora.latest_recipe(wildcards.corpus)

    def described(self, wildcards: Any) -> None:
        """Return None: the shards of a user's own source are known only on machines with the user's files."""

    def behind(self, wildcards: Any) -> Iterator[Origin]:
        kinds = {source.kind for source in self._specs.corpora[wildcards.corpus].sources}
        for kind in sorted(kinds):
            yield Origin(PARSERS[kind], {})


class LockedVersions(LatestVersions):
    """The versions of documents that a lock names."""

    name, label = "locked_versions", "Finding the documents in the lock of {wildcards.corpus}"
    program = "scripts/latest_versions.py"
    version = 2
    seconds = ASSUMED

    def inputs_of(self, wildcards: Any) -> Inputs:
        return {**super().inputs_of(wildcards), "lock": self.graph.corpora.lock(wildcards.corpus)}


class LockCorpus(Stage):
    """Lock of a corpus."""

    name, group, label = "lock_corpus", "select", "Locking {wildcards.corpus}"
    version = 3
    needs = Needs(4_000, 2 * HOUR)

    def inputs_of(self, wildcards: Any) -> Inputs:
        names = {"manifest": "manifest.parquet", "statistics": STATISTICS}
        return {role: self._paths.corpus(wildcards.corpus, name) for role, name in names.items()}

    def recipe_of(self, wildcards: Any) -> corpora.LockRecipe:
        return self.graph.corpora.lock_recipe(wildcards.corpus)


class CorpusStatistics(Stage):
    """Counts of a corpus."""

    name, group, label = "corpus_statistics", "select", "Counting documents of {wildcards.corpus}"
    version = 4
    needs = Needs(2_000, 4 * HOUR)

    def inputs_of(self, wildcards: Any) -> Inputs:
        parts = self.graph.corpora.parts(wildcards.corpus)
        return {"parts": parts, "statistics": [path.replace(".parquet", ".json") for path in parts]}

    def recipe_of(self, wildcards: Any) -> corpora.StatisticsRecipe:
        return corpora.StatisticsRecipe(
            corpus=wildcards.corpus,
            last_files={shard.source: shard.name for shard in self.graph.corpora.shards(wildcards.corpus)},
        )
