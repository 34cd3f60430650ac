"""Files of PubMed that are new on the server, and the specs of corpora that name them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.specs import PubmedSource, Specs
from pubmill.stages.source_jobs import pubmed_files
from pubmill.storage.listings import PubmedYear, list_folder, pubmed_years

Files = dict[str, tuple[str, ...]]
"""Folder of NCBI -> ranges of the names of its files, as in specs."""

_NUMBER = re.compile(r"pubmed(\d\d)n(\d+)\.xml\.gz$")
_RANGES = re.compile(r"\b(baseline|updatefiles):[ \t]*\[([^\]]*)\]")


class SourceUpdate(NamedTuple):
    """The files of a source before and after an update; `added` are the paths of those that are new."""

    source: str
    old: Files
    new: Files
    added: tuple[str, ...]


def source_update(source: PubmedSource, mirror: str | None) -> SourceUpdate:
    """Return the update of a source to what its server has now. Files that follow the last one of the same
    year are added, up to the first gap. The baseline of a later year, if it is there without a gap, replaces
    all files, because NLM numbers them anew."""
    files = pubmed_files(source)
    numbers = _numbers(files)
    year = max(numbers)
    url = source.url.rstrip("/")
    baselines = pubmed_years(list_folder(f"{url}/baseline/", mirror))
    updates = {one.year: one for one in pubmed_years(list_folder(f"{url}/updatefiles/", mirror))}
    later = [one for one in baselines if one.year > year and one.numbers[0] == 1 and not one.gaps()]
    own: list[int] = []
    if later:
        year, last, baseline = later[-1].year, later[-1].numbers[-1], tuple(later[-1].ranges())
    else:
        last, baseline = max(numbers[year]), source.files.get("baseline", ())
        own = _numbers(path for path in files if path.startswith("updatefiles/")).get(year, [])
    ranges = tuple(PubmedYear(year, (*own, *_following(last, updates.get(year))), ()).ranges())
    new: Files = {"baseline": baseline, **({"updatefiles": ranges} if ranges else {})}
    after = pubmed_files(source.model_copy(update={"files": new}))
    return SourceUpdate(source.name, _files(source), new, tuple(path for path in after if path not in files))


def _files(source: PubmedSource) -> Files:
    return {str(folder): ranges for folder, ranges in source.files.items()}


def _numbers(paths: Iterable[str]) -> dict[int, list[int]]:
    numbers: dict[int, list[int]] = {}
    for path in paths:
        if match := _NUMBER.search(path):
            numbers.setdefault(int(match[1]), []).append(int(match[2]))
    return numbers


def _following(last: int, listed: PubmedYear | None) -> list[int]:
    """Return the numbers after the last one, up to a gap or a file without an md5."""
    there = set(listed.numbers) if listed else set()
    if listed:
        there -= {number for one in listed.without_md5 for number in _numbers([one])[listed.year]}
    following = []
    while last + 1 in there:
        last += 1
        following.append(last)
    return following


def updated_specs(
    scale: str, corpora: Iterable[str], folder: Path, updates: Mapping[str, SourceUpdate]
) -> dict[Path, str]:
    """Return spec file -> new text, for the specs that updates change. The files of a corpus's sources are
    in the spec of the corpus or of the scale."""
    paths = [folder / f"scales/{scale}.yaml", *(folder / "corpora" / f"{name}.yaml" for name in corpora)]
    texts = {}
    for path in filter(Path.is_file, paths):
        text = old = path.read_text(encoding="utf-8")
        for update in updates.values():
            text = with_files(text, update)
        if text != old:
            texts[path] = text
    return texts


def with_files(text: str, update: SourceUpdate) -> str:
    """Return the text of a spec with the files of an update in the place of the files before it."""

    def replaced(match: re.Match[str]) -> str:
        folder, ranges = match[1], tuple(part.strip() for part in match[2].split(",") if part.strip())
        if ranges != tuple(update.old.get(folder, ())) or folder not in update.new:
            return match[0]
        listed = f"{folder}: [{', '.join(update.new[folder])}]"
        if folder == "baseline" and "updatefiles" in update.new.keys() - update.old.keys():
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            separator = ", " if "{" in line else f"\n{' ' * len(line)}"
            listed += f"{separator}updatefiles: [{', '.join(update.new['updatefiles'])}]"
        return listed

    return _RANGES.sub(replaced, text)


def check_updated(specs: Specs, corpora: Iterable[str], updates: Mapping[str, SourceUpdate]) -> None:
    """Raise a `PubmillError` if one of the corpora does not have the files of an update."""
    for corpus, source in pubmed_sources(specs, corpora):
        if source.name in updates and _files(source) != updates[source.name].new:
            files = "; ".join(f"{name}: [{', '.join(of)}]" for name, of in updates[source.name].new.items())
            raise PubmillError(
                f"corpus {corpus}: the files of its source {source.name} were not found in its spec, so they "
                f"could not be replaced. Write them by hand ({files}) and run the same command again"
            )


def pubmed_sources(specs: Specs, corpora: Iterable[str]) -> Iterator[tuple[str, PubmedSource]]:
    """Yield the corpora that have a source of PubMed files, each with the source."""
    for corpus in corpora:
        for source in specs.corpora[corpus].sources:
            if isinstance(source, PubmedSource):
                yield corpus, source
