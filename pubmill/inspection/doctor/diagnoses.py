"""Doctor: whether datasets are available, from where, whether counts are right, what to do."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.inspection.data_check.source_places import Place, places
from pubmill.inspection.doctor.links import Links
from pubmill.messages import commands
from pubmill.specs import DatasetSpec, File
from pubmill.stages import Graph
from pubmill.stages.availability import how_to_bring
from pubmill.storage.files import read_json
from pubmill.storage.sources import path_in_mirror


@dataclass
class DatasetFinding:
    """State of one dataset.

    `available`: None if only the network has a file and links were not checked. `sources`: where the files
    come from -> how many. `counts`: a description; `counted`: whether the counts are as expected (None: not
    converted yet, or nothing is expected). `dead`: dead links; `to_do`: what to do.
    """

    dataset: str
    wanted: bool
    spec: DatasetSpec
    available: bool | None = True
    sources: Counter[str] = field(default_factory=Counter)
    counts: str = ""
    counted: bool | None = None
    dead: list[str] = field(default_factory=list)
    to_do: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        return self.available is not False and self.counted is not False


def linked(graph: Graph) -> list[str]:
    """Return the URLs of files that neither the results nor the mirror have."""
    names = filter(graph.availability.exists, graph.specs.datasets)
    needed = (place for name in names for place in places(graph, name, in_results=True))
    return sorted({one.name for one in needed if one.found is None and isinstance(one.source, File)})


def examine(graph: Graph, links: Links | None, configuration: Sequence[str] = ()) -> list[DatasetFinding]:
    """Examine every dataset; `links` is None if the network must not be used. `configuration`: the
    configuration's command-line options, which the printed commands repeat."""
    wanted = set(graph.table_datasets.wanted())
    specs = sorted(graph.specs.datasets.items())
    findings = [DatasetFinding(name, name in wanted, spec) for name, spec in specs]
    for finding in findings:
        if not graph.availability.exists(finding.dataset):
            finding.available = False
            finding.counts = "not among the made-up data of this scale"
            finding.to_do.append(f"use another scale: {commands.pubmill('doctor', 'datasets')}")
            continue
        for place in places(graph, finding.dataset, in_results=True):
            _add_place(finding, place, graph, links)
        if finding.sources["absent"]:  # of the user's own files; mistakes in their settings come first
            mistakes = graph.availability.mistakes(finding.dataset)
            finding.to_do += mistakes
            for key, folder, files, _ in () if mistakes else graph.availability.absent(finding.dataset):
                apply = f"apply at {finding.spec.apply}; then " if finding.spec.apply else ""
                into = f"put them into {folder}" if folder else how_to_bring(key)
                finding.to_do.append(f"{apply}{into}. Files: {', '.join(files)}")
        _add_counts(finding, graph, configuration)
    return findings


def _add_place(finding: DatasetFinding, place: Place, graph: Graph, links: Links | None) -> None:
    """Add a source file; with a mirror, none is ever requested from the network."""
    if place.found is not None:
        finding.sources[place.found] += 1
        return
    url = place.name if isinstance(place.source, File) else None
    mirrored = path_in_mirror(url, graph.study.mirror) if url else None
    dead = links.dead.get(url) if links and url else None
    if dead:
        finding.dead.append(f"{url}: {dead}")
    silent = links is not None and not links.network
    if url and not (mirrored or dead or silent):
        finding.sources["network"] += 1
        if links is None and finding.available:
            finding.available = None
        return
    finding.sources["absent"] += 1
    finding.available = False
    if url and mirrored:
        finding.to_do.append(f"fetch {url} to {mirrored}")
    elif url and dead:
        below = url.removeprefix("https://")
        finding.to_do.append(f"find a copy elsewhere, and set `mirror:` to a folder that has it as {below}")
    elif url and (advice := "connect to the network, or set `mirror:`") not in finding.to_do:
        finding.to_do.append(advice)


def _add_counts(finding: DatasetFinding, graph: Graph, configuration: Sequence[str]) -> None:
    """Compare the counts in a conversion's card with those that the spec expects now."""
    path = Path(graph.paths.card(finding.dataset))
    if not path.is_file():
        finding.counts = "not converted yet"
        return
    try:
        counts: Mapping[str, Mapping[str, int | None]] = read_json(path)["counts"]
        differing = [
            f"{split} {measure}: expected {expected}, found {counts[split].get(measure, 0)}"
            for split, measures in finding.spec.expect.items()
            for measure, expected in measures.items()
            if counts[split].get(measure, 0) != expected
        ]
    except (PubmillError, KeyError, TypeError, AttributeError):
        differing = [f"{path} is damaged"]
    if differing:
        finding.counted = False
        finding.counts = "counts not as expected: " + "; ".join(differing)
        options = ("--forcerun", "convert")
        command = commands.run_files(str(path), configuration=configuration, options=options)
        finding.to_do.append(f"convert it again: {command}")
        return
    bare = [split for split in finding.spec.splits if not finding.spec.expect.get(split)]
    if len(bare) == len(finding.spec.splits):
        finding.counts = "converted; counts: nothing expected"
    else:
        finding.counted = True
        finding.counts = "counts as expected" + (f" (of {', '.join(bare)}: nothing expected)" if bare else "")
