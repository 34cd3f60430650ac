"""Source files: names of PubMed's files, of PMC's shards and packages; downloads; copies of users' files."""

import itertools
import re
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from pubmill.errors import PubmillError
from pubmill.recipes.corpora import FetchRecipe
from pubmill.specs import ArchiveWeights, File, LocalFile, PubmedSource
from pubmill.specs.corpus_specs import PmcPackagesSource, PmcSource
from pubmill.stages import costs
from pubmill.stages.costs import PMC_SHARD
from pubmill.stages.stage import Bytes, GraphPart, Stage
from pubmill.storage.result_paths import RELATIVE
from pubmill.storage.sources import path_in_mirror

_FILES = re.compile(r"^(\d\d)n(\d{4,})(?:-(\d\d)n(\d{4,}))?$")
_ARTICLES = re.compile(r"PMC(\d+)(x*)(?:-PMC(\d+)(x*))?")
DIGITS = 9


def pmc_shards(source: PmcSource) -> list[str]:
    """Return the shards of a source in the bucket: `PMC00000xxxx-PMC00002xxxx` are three."""
    shards: list[str] = []
    for written in source.articles:
        match = _ARTICLES.fullmatch(written)
        first, rest, to, to_rest = match.groups() if match else ("", "", "", "")
        last = to or first
        is_whole = len(first) + len(rest) == DIGITS and (len(first), rest) == (len(last), to_rest or rest)
        if not is_whole or int(last) < int(first):
            raise PubmillError(
                f"source {source.name}: articles: {written!r} is no range of PMCIDs; write "
                "PMC00000xxxx-PMC01299xxxx (nine digits, of which the same number at the end is x: the "
                "numbers of one shard)"
            )
        numbers = range(int(first), int(last) + 1)
        shards += [f"PMC{number:0{len(first)}d}{rest}" for number in numbers]
    bounds = sorted(tuple(int(shard[3:].replace("x", digit)) for digit in "09") for shard in shards)
    for (_, end_before), (begin, _) in itertools.pairwise(bounds):
        if begin <= end_before:
            raise PubmillError(f"source {source.name}: articles: PMC{begin:09d} is in two of the ranges")
    return shards


def packages(source: PmcPackagesSource) -> dict[str, str]:
    """Shard of each package -> its name below the source's URL, without `.tar.gz`."""
    named = {PurePosixPath(name).name: name for name in source.packages}
    if len(named) != len(source.packages):
        raise PubmillError(f"source {source.name}: packages: the same file name is given twice")
    return named


def pubmed_files(source: PubmedSource) -> list[str]:
    """Return relative paths of a PubMed source's files in NCBI's order: baseline, then updates, by number."""
    paths = []
    for folder in ("baseline", "updatefiles"):
        for written in source.files.get(folder, ()):
            matched = _FILES.match(written)
            last = matched and (matched[3] or matched[1], int(matched[4] or matched[2]))
            if not matched or not last or last < (matched[1], int(matched[2])) or last[0] != matched[1]:
                raise PubmillError(
                    f"source {source.name}: {folder}: {written!r} is no range of PubMed files; "
                    f"write 26n0001 or 26n0001-26n1334 (one year)"
                )
            numbers = range(int(matched[2]), last[1] + 1)
            paths += [f"{folder}/pubmed{matched[1]}n{number:04d}.xml.gz" for number in numbers]
    return paths


class Sources(GraphPart):
    """Checks of downloads and of copies of the user's own files."""

    def checks(self, url: str) -> list[str]:
        """Return the download program's arguments that check the content of a URL."""
        if url not in self._checks_by_url:
            raise PubmillError(f"no spec names {url}, so pubmill does not know how to check it")
        return self._checks_by_url[url]

    @cached_property
    def _checks_by_url(self) -> dict[str, list[str]]:
        """Every URL that the specs name, with the download program's arguments that check its content."""
        checks: dict[str, list[str]] = {one.sentence_splitter: [] for one in self._specs.pretraining.values()}
        for dataset in self._specs.datasets.values():
            for file in (*dataset.sources.values(), *dataset.copies):
                if isinstance(file, File):
                    known = ["--sha256", file.sha256] if file.sha256 else []
                    checks[file.url] = ["--git-blob", file.git_blob] if file.git_blob else known
        for prompts in self._specs.prompts.values():
            checks |= {prompt.url: ["--sha256", prompt.sha256] for prompt in prompts.published()}
        for model in self._specs.models.values():
            if isinstance(model.released, ArchiveWeights):
                digest = model.released.sha256
                checks[model.released.url] = ["--sha256", digest] if digest else []
        return checks

    def local_file(self, key: str, name: str) -> str:
        """Return the user's own file behind `sources/local/KEY/NAME`."""
        path = self.graph.folders.require(key, RELATIVE.local_source(key, name)).resolve() / name
        if not path.is_file():
            raise PubmillError(f"{path.parent} ({self.graph.folders.setting(key)}) has no file {name}")
        return str(path)

    def check_local_file(self, key: str, name: str) -> list[str]:
        """Check that the user's file is there; return no inputs, as its copy depends on the content alone."""
        self.local_file(key, name)
        return []

    def local_checks(self, key: str, name: str) -> list[str]:
        """Return the download program's arguments that check a file of the user's own. They name its content
        (the SHA-256 of the spec, else of the file as it is now), not where it lies."""
        for spec in self._specs.datasets.values():
            for file in spec.sources.values():
                if isinstance(file, LocalFile) and (file.local, file.file) == (key, name) and file.sha256:
                    return ["--sha256", file.sha256]
        return ["--sha256", self.graph.digests.of(Path(self.local_file(key, name)))]


class Download(Stage):
    """Download of a file from the network or the mirror."""

    name, group, label = "download", "download", "{params.how} {params.url}"
    version = 1

    def bytes_of_url(self, url: str) -> Bytes:
        """Return the bytes of a file: of one in the mirror known; assumed of a PubMed file and of an archive
        with a model's weights; else unknown."""
        path = path_in_mirror(url, self._study.mirror)
        if path and path.is_file():
            return Bytes(known=path.stat().st_size, disk=path.stat().st_size)
        if "/pubmed/" in url:
            return Bytes(assumed=costs.PUBMED_FILE, disk=costs.PUBMED_FILE)
        for name, spec in self._specs.models.items():
            if isinstance(spec.released, ArchiveWeights) and spec.released.url == url:
                size = costs.bytes_of_model(self.graph, name)
                return Bytes(assumed=size, disk=size)
        return Bytes(unknown=1)

    def bytes_of(self, wildcards: Any) -> Bytes:
        return self.bytes_of_url(f"https://{wildcards.path}")


class FetchFiles(Stage):
    """Download of a block of files of PubMed, or of packages of PMC."""

    name, group = "fetch_files", "download"
    label = "Downloading {wildcards.block} of {wildcards.source}"
    version = 1

    def bytes_of(self, wildcards: Any) -> Bytes:
        each = [self.graph.stage(Download).bytes_of_url(url) for url in self.recipe_of(wildcards).urls]
        return Bytes(*(sum(of_all) for of_all in zip(*each, strict=True)))

    def recipe_of(self, wildcards: Any) -> FetchRecipe:
        shards = self.graph.corpora.source_block(wildcards.source, wildcards.block)
        return FetchRecipe(
            urls=tuple(url for shard in shards for url in shard.urls),
            md5_beside=isinstance(self.graph.corpora.source(wildcards.source), PubmedSource),
        )


class TakeLocal(Stage):
    """Copy of a file of the user's own."""

    name, group, label = "take_local", "download", "Copying {wildcards.name} ({wildcards.key})"
    version, program = 1, "pubmill/jobs/download.py"


class PlanPmc(Stage):
    """List of the articles of a PMC source."""

    name, group, label = "plan_pmc", "download", "Planning the articles of {wildcards.source}"
    version = 1


class FetchPmc(Stage):
    """Archives of the articles of a block of shards."""

    name, group = "fetch_pmc", "download"
    label = "Fetching articles {wildcards.block} of {wildcards.source}"
    version = 1

    def shards(self, wildcards: Any) -> list[str]:
        """Return the names of the shards."""
        block = self.graph.corpora.source_block(wildcards.source, wildcards.block)
        return [shard.name for shard in block]

    def bytes_of(self, wildcards: Any) -> Bytes:
        assumed = len(self.shards(wildcards)) * PMC_SHARD
        return Bytes(assumed=assumed, disk=assumed)
