"""Sources, parsed shards and corpora: selection of documents, and searches of a whole corpus for copies, for
texts of datasets, and for retractions and revisions of their documents."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.messages.wording import repeated
from pubmill.recipes import corpora
from pubmill.recipes.tables import project
from pubmill.specs import corpus_specs
from pubmill.stages.costs import MEASURED_FILES, MEASURED_PARTS, PMC_SHARD, PUBMED_SHARD
from pubmill.stages.source_jobs import packages, pmc_shards, pubmed_files
from pubmill.stages.stage import ASSUMED, HOUR, BlockStage, Bytes, GraphPart, Needs, Seconds, Stage, cached
from pubmill.storage.name_patterns import FILE, FILE_WORDS, fits
from pubmill.storage.result_paths import DATASET_NOTICES, RELATIVE, part_name, shard_name


class Shard(NamedTuple):
    """One file of a source: the source's name, the shard's, where the raw file lies, and the addresses that
    are downloaded for it: none for a file of the user's own or an archive of PMC's articles."""

    source: str
    name: str
    file: str
    urls: tuple[str, ...] = ()


class FileBlock(NamedTuple):
    """Successive shards of a source of a corpus, on which one job works: `block_files` of the scale at most.
    `name`: of the first, and how many follow; `first`: the number of the first in the corpus."""

    source: str
    name: str
    first: int
    shards: tuple[Shard, ...]


class Corpora(GraphPart):
    """Sources, shards and parts of corpora."""

    def source(self, name: str) -> corpus_specs.Source:
        """Return the spec of a source, by its name."""
        sources = (source for corpus in self._specs.corpora.values() for source in corpus.sources)
        if found := next((source for source in sources if source.name == name), None):
            return found
        raise PubmillError(f"no corpus has a source {name!r}")

    def shards(self, corpus: str) -> list[Shard]:
        """Return the shards of a corpus, in order of authority and then in NCBI's order."""
        return [shard for block in self.blocks(corpus) for shard in block.shards]

    @cached
    def blocks(self, corpus: str) -> list[FileBlock]:
        """Return the blocks of a corpus, in the order of its shards."""
        blocks, first = list[FileBlock](), 0
        for source in self._specs.corpora[corpus].sources:
            for block in self._source_blocks(corpus, source.name):
                blocks.append(block._replace(first=first))
                first += len(block.shards)
        return blocks

    def block(self, wildcards: Any) -> FileBlock:
        """Return the block of a corpus that wildcards name."""
        named = (wildcards.source, wildcards.block)
        found = (one for one in self.blocks(wildcards.corpus) if (one.source, one.name) == named)
        if block := next(found, None):
            return block
        raise PubmillError(
            f"corpus {wildcards.corpus} has no block {wildcards.block!r} of {wildcards.source}"
        )

    def source_block(self, source: str, block: str) -> tuple[Shard, ...]:
        """Return the shards of a block of a source, of whichever corpora have it. The other sources of these
        corpora may be unavailable."""
        found = self._blocks_of_source(source).get(block, set())
        if len(found) == 1:
            return next(iter(found))
        if not found:
            raise PubmillError(f"source {source}: no corpus has the block {block!r}")
        raise PubmillError(
            f"source {source}: corpora have different files in the block {block!r}; give the source another "
            f"name in one of them"
        )

    @cached
    def _blocks_of_source(self, source: str) -> dict[str, set[tuple[Shard, ...]]]:
        """Return block -> its shards, which are those of one set unless corpora differ in them."""
        found: dict[str, set[tuple[Shard, ...]]] = {}
        seen: list[corpus_specs.Source] = []
        for corpus, spec in self._specs.corpora.items():
            for of in spec.sources:
                if of.name == source and of not in seen:
                    seen.append(of)
                    for block in self._source_blocks(corpus, source):
                        found.setdefault(block.name, set()).add(block.shards)
        return found

    @cached
    def _source_blocks(self, corpus: str, source: str) -> list[FileBlock]:
        """Return the blocks of one source of a corpus, without their place in it."""
        spec = next(one for one in self._specs.corpora[corpus].sources if one.name == source)
        shards, size = tuple(self._shards_of(corpus, spec)), self._specs.scale.block_files
        blocks = [shards[place : place + size] for place in range(0, len(shards), size)]
        names = [f"{one[0].name}+{len(one) - 1}" if len(one) > 1 else one[0].name for one in blocks]
        return [FileBlock(source, name, 0, block) for name, block in zip(names, blocks, strict=True)]

    def fetched(self, source: str, block: str) -> list[str]:
        """Return what must be there before a block is parsed: its manifest, or the user's own files."""
        if isinstance(self.source(source), corpus_specs.TextSource | corpus_specs.MimicSource):
            return [shard.file for shard in self.source_block(source, block)]
        return [self._paths.block(self._paths.sources(), source, block)]

    def _shards_of(self, corpus: str, source: corpus_specs.Source) -> Iterator[Shard]:
        if isinstance(source, corpus_specs.PubmedSource):
            for path in pubmed_files(source):
                url = f"{source.url}/{path}"
                yield Shard(source.name, shard_name(Path(path).name), self._paths.source_of_url(url), (url,))
        elif isinstance(source, corpus_specs.PmcSource):
            for name in pmc_shards(source):
                yield Shard(source.name, name, self._paths.pmc_archive(source.name, name))
        elif isinstance(source, corpus_specs.PmcPackagesSource):
            for name, path in packages(source).items():
                urls = f"{source.url}/{path}.tar.gz", f"{source.url}/{path}.filelist.csv"
                yield Shard(source.name, name, self._paths.source_of_url(urls[0]), urls)
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
        names = [shard_name(file.name) for file in files]
        if alike := repeated(names):
            raise PubmillError(
                f"corpus {corpus}: several files in {folder} are called {alike[0]}, but for their endings; "
                f"let `files:` of the source match one of them, or rename them"
            )
        return dict(zip(names, files, strict=True))

    def source_names(self, kind: str) -> list[str]:
        """Return the names of all sources of a kind."""
        return sorted({s.name for c in self._specs.corpora.values() for s in c.sources if s.kind == kind})

    def manifests(self, corpus: str, folder: str = "") -> list[str]:
        """Return the manifests of all blocks of a corpus: of its parts, or of what is made in `folder`."""
        made = folder or self._paths.corpus(corpus)
        return [self._paths.block(made, one.source, one.name) for one in self.blocks(corpus)]

    def parsed(self, corpus: str) -> list[str]:
        """Return the manifests of the parsed blocks of a corpus."""
        return self.manifests(corpus, self._paths.parsed())

    def parsed_shards(self, wildcards: Any) -> list[str]:
        """Return the parsed shards of a block of a corpus."""
        folder = self._paths.parsed(wildcards.source)
        return [f"{folder}/{shard.name}.parquet" for shard in self.block(wildcards).shards]

    def parts(self, wildcards: Any) -> list[str]:
        """Return the parts that a block of a corpus has."""
        block = self.block(wildcards)
        numbers = range(block.first, block.first + len(block.shards))
        return [self._paths.corpus(wildcards.corpus, part_name(number)) for number in numbers]

    def locked(self) -> list[str]:
        """Return the corpora that are rebuilt from a lock."""
        return [name for name, spec in self._specs.corpora.items() if spec.lock]

    def lock(self, corpus: str) -> str:
        """Return the copy of the lock from which a corpus is rebuilt."""
        lock = self._specs.corpora[corpus].lock
        if lock is None:
            raise PubmillError(f"corpus {corpus} names no lock; write `lock: {{local: KEY}}` into its spec")
        return self._paths.local_source(lock.local, lock.file)


class ContaminationStage(Stage):
    """Texts of datasets that corpora contain."""

    name, group = "contamination", "select"
    label = "Reporting texts of datasets found in {wildcards.corpus}"
    version = 2

    def splits(self, corpus: str, use: str) -> dict[str, list[str]]:
        """Return the splits whose texts are searched for in a corpus, by dataset: those that its spec
        excludes (`use` is `excluded`), or dev and test of every dataset of the study (`contamination`)."""
        excludes = self._specs.corpora[corpus].contamination
        if use == "excluded":
            datasets, wanted = (excludes.datasets, excludes.splits) if excludes else ((), ())
        else:
            datasets, wanted = tuple(self.graph.scope.datasets()), ("dev", "test")
        splits = {name: self._specs.datasets[name].splits for name in datasets}
        return {name: [split for split in wanted if split in splits[name]] for name in datasets}

    def examples(self, corpus: str, use: str) -> list[str]:
        """Return the files with the examples of the splits that `splits` returns."""
        splits = self.splits(corpus, use)
        return [self._paths.examples(name, split) for name in splits for split in splits[name]]

    def reports(self) -> list[str]:
        """Return the reports on the corpora that the study pretrains on."""
        return [self._paths.corpus(corpus, "contamination.json") for corpus in self.graph.scope.corpora()]


class IndexEvaluationTexts(Stage):
    """Texts of datasets to be searched for in a corpus."""

    name, group = "index_evaluation_texts", "select"
    label = "Indexing texts of datasets for {wildcards.corpus}"
    version = 2
    needs = Needs(2_000, HOUR)

    def recipe_of(self, wildcards: Any) -> corpora.IndexRecipe:
        specs, splits = self._specs.datasets, self.graph.contamination.splits(wildcards.corpus, wildcards.use)
        datasets = (
            corpora.EvaluatedDataset(dataset=name, splits=tuple(of), pmids=bool(specs[name].pmids))
            for name, of in splits.items()
        )
        return corpora.IndexRecipe(datasets=tuple(datasets))


class FindContamination(BlockStage):
    """Texts of datasets found in a block of a corpus."""

    name, group = "find_contamination", "select"
    label = "Searching {wildcards.corpus} for texts of datasets, {wildcards.block} of {wildcards.source}"
    version = 4
    needs = Needs(1_000, 4 * HOUR)
    seconds = Seconds(30_000 / 4_900, MEASURED_PARTS)


class Parse(BlockStage):
    """Documents of a block of files of a source."""

    name, group, label = "parse", "parse", "Parsing {wildcards.block} of {wildcards.source}"
    version = 9
    needs = Needs(1_000, 4 * HOUR)
    seconds = Seconds(4.6, f"{MEASURED_FILES}; of PMC measured an article, 6,000 assumed in a shard")

    def bytes_of(self, wildcards: Any) -> Bytes:
        shards = self.graph.corpora.source_block(wildcards.source, wildcards.block)
        articles = isinstance(self.graph.corpora.source(wildcards.source), corpus_specs.Articles)
        return Bytes(disk=len(shards) * (PMC_SHARD if articles else PUBMED_SHARD))

    def recipe_of(self, wildcards: Any) -> corpora.ParsingRecipe:
        """Return the recipe of a block of a source; corpora that share a source agree on it."""
        spec = self.graph.corpora.source(wildcards.source)
        of_articles: dict[str, Any] = {}
        if isinstance(spec, corpus_specs.Articles):
            shards = self.graph.corpora.source_block(wildcards.source, wildcards.block)
            names = {shard.name for shard in shards}
            of_articles["leave_out"] = tuple(sorted(spec.leave_out))
            of_articles["unreadable"] = {
                name: tuple(sorted(articles)) for name, articles in spec.unreadable.items() if name in names
            }
        return project(corpora.ParsingRecipe, spec, source=wildcards.source, **of_articles)


class LatestVersions(Stage):
    """The latest version of each document of a corpus."""

    name, group = "latest_versions", "select"
    label = "Finding the latest version of each document of {wildcards.corpus}"
    version = 1
    needs = Needs(4_000, 2 * HOUR)  # measured: 2.3 GB for 40 million ids
    seconds = Seconds(60, "measured: benchmarks/README.md, 40 million ids")

    def recipe_of(self, wildcards: Any) -> corpora.LatestRecipe:
        """Return the sources of a corpus in order of authority, each with its shards in NCBI's order."""
        runs = itertools.groupby(self.graph.corpora.shards(wildcards.corpus), key=lambda shard: shard.source)
        return corpora.LatestRecipe(
            sources=tuple(
                corpora.SourceShards(name=name, shards=tuple(shard.name for shard in run))
                for name, run in runs
            )
        )


class LockedVersions(LatestVersions):
    """The versions of documents that a lock names."""

    name, label = "locked_versions", "Finding the documents in the lock of {wildcards.corpus}"
    program = "pubmill/jobs/latest_versions.py"
    version = 2
    seconds = ASSUMED


class LockCorpus(Stage):
    """Lock of a corpus."""

    name, group, label = "lock_corpus", "select", "Locking {wildcards.corpus}"
    version = 3
    needs = Needs(4_000, 2 * HOUR)

    def recipe_of(self, wildcards: Any) -> corpora.LockRecipe:
        """Return the source files of a corpus, in order of loading, by folder to keep the text short."""
        places = [(one.source, Path(one.file)) for one in self.graph.corpora.shards(wildcards.corpus)]
        runs = itertools.groupby(places, key=lambda place: (place[0], place[1].parent))
        return corpora.LockRecipe(
            files=tuple(
                corpora.SourceFolder(
                    source=source,
                    folder=folder.relative_to(self._paths.sources()).as_posix(),
                    names=tuple(path.name for _, path in run),
                )
                for (source, folder), run in runs
            )
        )


class CorpusStatistics(Stage):
    """Counts of a corpus."""

    name, group, label = "corpus_statistics", "select", "Counting documents of {wildcards.corpus}"
    version = 4
    needs = Needs(2_000, 4 * HOUR)

    def recipe_of(self, wildcards: Any) -> corpora.StatisticsRecipe:
        return corpora.StatisticsRecipe(
            corpus=wildcards.corpus,
            last_files={shard.source: shard.name for shard in self.graph.corpora.shards(wildcards.corpus)},
        )


class DatasetNotices(Stage):
    """Documents of datasets that were retracted or revised, by the sources of a corpus."""

    name, group = "dataset_notices", "select"
    label = "Looking up retractions of datasets' documents in the sources of {wildcards.corpus}"
    version = 1
    needs = Needs(2_000, HOUR)

    def files(self) -> dict[str, tuple[str, ...]]:
        """Return dataset -> files with its PMIDs, below the results."""
        pmids = {}
        for name in self.graph.scope.datasets():
            spec = self._specs.datasets[name]
            if spec.pmids:
                pmids[name] = tuple(RELATIVE.examples(name, split) for split in spec.splits)
            elif self.graph.datasets.has_copies(name):
                pmids[name] = (RELATIVE.sentence_documents(name),)
        return pmids

    def files_with_pmids(self) -> list[str]:
        """Return all files of `files`."""
        return [self._paths.at(path) for paths in self.files().values() for path in paths]

    def targets(self) -> list[str]:
        """Return the reports of the study: from the sources of the corpora that it pretrains on."""
        of_study = self.graph.scope.corpora() if self.files() else []
        return [self._paths.corpus(corpus, DATASET_NOTICES) for corpus in of_study]

    def recipe_of(self, wildcards: Any) -> corpora.DocumentsRecipe:
        """Return the files of `files`, and the sources in which to look documents up."""
        sources = self.graph.stage(LatestVersions).recipe_of(wildcards).sources
        return corpora.DocumentsRecipe(sources=sources, documents=self.files())


class SelectDocuments(BlockStage):
    """Selected documents of a block of a corpus."""

    name, group = "select_documents", "select"
    label = "Selecting documents of {wildcards.corpus}, {wildcards.block} of {wildcards.source}"
    version = 6
    seconds = Seconds(1.9, f"{MEASURED_FILES}; assumed of others")

    def inputs(self, corpus: str) -> dict[str, str]:
        """Return the optional inputs of a selection, by name: texts to exclude, and duplicates."""
        duplicates = {"duplicates": self._paths.corpus(corpus, "duplicates.parquet")}
        return self.exclusions(corpus) | (duplicates if self._specs.corpora[corpus].duplicates else {})

    def exclusions(self, corpus: str) -> dict[str, str]:
        """Return the index of the texts that a corpus may not hold, if there are any."""
        excludes = self._specs.corpora[corpus].contamination
        return {"exclude": self._paths.corpus(corpus, "excluded.parquet")} if excludes else {}

    def bytes_of(self, wildcards: Any) -> Bytes:
        return Bytes(disk=15e6 * len(self.graph.corpora.block(wildcards).shards))

    def recipe_of(self, wildcards: Any) -> corpora.SelectionRecipe:
        return self._specs.corpora[wildcards.corpus].selection_of(wildcards.source)


class Fingerprint(BlockStage):
    """Fingerprints of the selected documents of a block."""

    name, group = "fingerprint", "select"
    label = "Fingerprinting {wildcards.corpus}, {wildcards.block} of {wildcards.source}"
    version = 1
    seconds = Seconds(30_000 / 7_300, MEASURED_PARTS)

    def version_of(self, wildcards: Any) -> list[int]:
        """Return the version of selection too, whose filters come first."""
        return [SelectDocuments.version, self.version]

    def recipe_of(self, wildcards: Any) -> corpora.FingerprintRecipe:
        spec = self._specs.corpora[wildcards.corpus]
        similar = spec.duplicates is not None and spec.duplicates.similarity is not None
        return corpora.FingerprintRecipe(selection=spec.selection_of(wildcards.source), similar=similar)


class FindDuplicates(Stage):
    """Duplicates in a corpus."""

    name, group, label = "find_duplicates", "select", "Finding duplicates in {wildcards.corpus}"
    version = 1
    needs = Needs(8_000, 8 * HOUR)  # assumed, as all without a figure

    def recipe_of(self, wildcards: Any) -> corpora.DuplicatesRecipe:
        """Return how similar a copy must be."""
        duplicates = self._specs.corpora[wildcards.corpus].duplicates
        return corpora.DuplicatesRecipe(similarity=duplicates.similarity if duplicates else None)
