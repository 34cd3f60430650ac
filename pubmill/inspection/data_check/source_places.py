"""Locations of a dataset's source files: in the results, in a mirror, or in the user's own folders."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pubmill.specs import File, LocalFile
from pubmill.stages import Graph
from pubmill.storage.sources import path_in_mirror

FileLocation = Literal["results", "mirror", "local_files"]


@dataclass(frozen=True)
class Place:
    """One source file: where it was `found`, and its `path` there; both are None if it was not found."""

    role: str
    source: File | LocalFile
    found: FileLocation | None
    path: Path | None

    @property
    def name(self) -> str:
        """URL of the file, or its name in one of the user's own folders."""
        return self.source.url if isinstance(self.source, File) else self.source.file

    @property
    def digests(self) -> dict[str, str]:
        """Digests in the spec, as arguments of `pubmill.storage.sources.check`."""
        named = {"sha256": self.source.sha256}
        if isinstance(self.source, File):
            named["git_blob"] = self.source.git_blob
        return {kind: value for kind, value in named.items() if value}


def places(graph: Graph, dataset: str, in_results: bool) -> list[Place]:
    """Look for every source file of a dataset; `in_results`: also accept a copy in the results folder."""
    found = []
    for role, source in graph.specs.datasets[dataset].sources.items():
        where: list[tuple[FileLocation, Path | None]] = []
        if isinstance(source, File):
            where.append(("mirror", path_in_mirror(source.url, graph.study.mirror)))
            taken = Path(graph.paths.source_of_url(source.url))
        else:
            folder = graph.folders.find(source.local)
            where.append(("local_files", folder / source.file if folder else None))
            taken = Path(graph.datasets.copy(source))
        if in_results:
            where.insert(0, ("results", taken))
        there = ((place, path) for place, path in where if path and path.is_file())
        found.append(Place(role, source, *next(there, (None, None))))
    return found
