"""Names of PubMed's files, and of PMC's shards and packages."""

import itertools
import re
from pathlib import PurePosixPath

from pubmill.errors import PubmillError
from pubmill.specs import PubmedSource
from pubmill.specs.corpus_specs import PmcPackagesSource, PmcSource

_FILES = re.compile(r"^(\d\d)n(\d{4,})(?:-(\d\d)n(\d{4,}))?$")
_ARTICLES = re.compile(r"PMC(\d+)(x*)(?:-PMC(\d+)(x*))?")
DIGITS = 9


def pmc_shards(source: PmcSource) -> list[str]:
    """Return the shards of a source in the bucket: `PMC00000xxxx-PMC00002xxxx` are three."""
    shards: list[str] = []
    for written in source.articles:
        match = _ARTICLES.fullmatch(written)
        if not match:
            raise _range_error(source.name, written)
        first, rest, last, end = match[1], match[2], match[3] or match[1], match[4] or match[2]
        whole = len(first) + len(rest) == DIGITS and (len(first), rest) == (len(last), end)
        if not whole or int(last) < int(first):
            raise _range_error(source.name, written)
        numbers = range(int(first), int(last) + 1)
        shards += [f"PMC{number:0{len(first)}d}{rest}" for number in numbers]
    bounds = sorted(tuple(int(shard[3:].replace("x", digit)) for digit in "09") for shard in shards)
    for (_, end_before), (begin, _) in itertools.pairwise(bounds):
        if begin <= end_before:
            raise PubmillError(f"source {source.name}: articles: PMC{begin:09d} is in two of the ranges")
    return shards


def _range_error(source: str, written: str) -> PubmillError:
    return PubmillError(
        f"source {source}: articles: {written!r} is no range of PMCIDs; write PMC00000xxxx-PMC01299xxxx "
        f"(nine digits, of which the same number at the end is x: the numbers of one shard)"
    )


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
