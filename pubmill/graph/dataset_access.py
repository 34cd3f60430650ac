"""Availability of datasets in a run: users supply files that need an application, and a mirror may hold only
some of the public ones."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.graph.base import how_to_bring
from pubmill.graph.models import ModelTargets
from pubmill.specs import DatasetSpec, File, LocalFile, Specs
from pubmill.specs.study import Study
from pubmill.storage.result_paths import BELOW
from pubmill.storage.sources import path_in_mirror


class Absent(NamedTuple):
    """Files of one key that a dataset needs and that aren't there. `folder` is None where none is named;
    `elsewhere` says that the folder has files of other datasets of that key, but none of this one."""

    key: str
    folder: Path | None
    files: list[str]
    elsewhere: bool


def local_names(spec: DatasetSpec) -> dict[str, list[str]]:
    """The files that the user brings, by the key of `local_files`, in the order of the spec."""
    found: dict[str, list[str]] = {}
    for file in spec.sources.values():
        if isinstance(file, LocalFile) and file.file not in found.setdefault(file.local, []):
            found[file.local].append(file.file)
    return found


class AccessTargets(ModelTargets):
    """Users' files and a mirror's files, and the messages where they are missing."""

    def __init__(self, study: Study, specs: Specs) -> None:
        super().__init__(study, specs)
        self._unmirrored: dict[str, list[str]] = {}

    def local_file(self, key: str, name: str) -> str:
        """The user's own file behind `sources/local/KEY/NAME`."""
        path = self.local(key, BELOW.local_source(key, name)).resolve() / name
        if not path.is_file():
            raise PubmillError(f"{path.parent} ({self.called(key)}) has no file {name}")
        return str(path)

    def check_local_file(self, key: str, name: str) -> list[str]:
        """Check that the user's file is there; return no inputs, as its copy depends on the content alone."""
        self.local_file(key, name)
        return []

    def taken(self, file: LocalFile) -> str:
        """Return the path of the copy of a user's file."""
        return self.paths.local_source(file.local, file.file)

    def local_checks(self, key: str, name: str) -> list[str]:
        """The download program's arguments that check a file of the user's own.

        They name its content (the SHA-256 of the spec, else of the file as it is now), not where it lies.
        """
        for spec in self.specs.datasets.values():
            for file in spec.sources.values():
                if isinstance(file, LocalFile) and (file.local, file.file) == (key, name) and file.sha256:
                    return ["--sha256", file.sha256]
        return ["--sha256", self.digests.of(Path(self.local_file(key, name)))]

    def wanted_datasets(self) -> list[str]:
        """Datasets with a spec that the study's tables name, less those that its `datasets:` leave out."""
        named = dict.fromkeys(name for table in self.study.tables for name in self._named(table))
        return [
            name for name in named if name in self.specs.datasets and self.exists(name) and self.wants(name)
        ]

    def _named(self, table: str) -> list[str]:
        """The datasets that a table of either kind names."""
        if table in self.specs.fact_tables:
            return list(self.specs.fact_tables[table].datasets)
        return [row.dataset for row in self.specs.tables[table].rows]

    def wants(self, dataset: str) -> bool:
        """Whether the study's `datasets:` has the dataset, or there is none."""
        return self.study.datasets is None or dataset in self.study.datasets

    def exists(self, dataset: str) -> bool:
        """Whether the scale has the dataset at all: made-up data are those that the scale's overlay names."""
        return not self.specs.scale.made_up or dataset in self.specs.scale.datasets

    def absent(self, dataset: str) -> list[Absent]:
        """The user's files that the dataset needs and that aren't there, by key."""
        return list(self._absent(dataset))

    def _absent(self, dataset: str) -> Iterator[Absent]:
        for key, names in local_names(self.specs.datasets[dataset]).items():
            folder = self.find_local(key)
            missing = [name for name in names if folder is None or not (folder / name).is_file()]
            if missing:
                others = {n for spec in self.specs.datasets.values() for n in local_names(spec).get(key, ())}
                elsewhere = (
                    folder is not None
                    and missing == names
                    and any((folder / name).is_file() for name in others)
                )
                yield Absent(key, folder, missing, elsewhere)

    def unmirrored(self, dataset: str) -> list[str]:
        """URLs of the dataset's public files that neither the results nor the mirror have.

        None without a mirror: the network is taken to have them. They are looked for once, so that a run
        doesn't change its mind while files come.
        """
        if dataset not in self._unmirrored:
            sources = self.specs.datasets[dataset].sources.values()
            urls = dict.fromkeys(file.url for file in sources if isinstance(file, File))
            self._unmirrored[dataset] = [url for url in urls if not self._is_at_hand(url)]
        return self._unmirrored[dataset]

    def _is_at_hand(self, url: str) -> bool:
        if self.study.mirror is None or Path(self.source(url)).is_file():
            return True
        mirrored = path_in_mirror(url, self.study.mirror)
        return mirrored is not None and mirrored.is_file()

    def lacks(self, dataset: str) -> str | None:
        """Why the dataset's files can't be had in this run, and where to apply for them; None if they can.

        It names no folder of this machine: it stands in tables.
        """
        if not self.exists(dataset):
            return "is not among the made-up data of this scale"
        reasons = [self._lacks_own(dataset), self._lacks_public(dataset)]
        return "; ".join(reason for reason in reasons if reason) or None

    def left_out(self) -> list[str]:
        """One line for each dataset that the study's tables want and that can't be had, with the reason and
        what to do."""
        advice = "; fetch what is missing into the mirror, or set `mirror: null`"
        lacking = [(name, self.lacks(name)) for name in self.wanted_datasets()]
        return [
            f"left out of the tables: {name} ({reason}{advice if self.unmirrored(name) else ''})"
            for name, reason in lacking
            if reason
        ]

    def _lacks_public(self, dataset: str) -> str | None:
        urls = self.unmirrored(dataset)
        more = f" and {len(urls) - 1} more" if len(urls) > 1 else ""
        return f"the mirror lacks {urls[0]}{more}" if urls else None

    def _lacks_own(self, dataset: str) -> str | None:
        absent = self.absent(dataset)
        if not absent:
            return None
        apply = self.specs.datasets[dataset].apply
        files = f"files that you apply for at {apply}" if apply else "files of your own"
        unset = [one.key for one in absent if one.folder is None]
        lacking = [f"{one.key} lacks {', '.join(one.files)}" for one in absent if one.folder is not None]
        then = [f"then set local_files: {', '.join(unset)}"] if unset else []
        return f"needs {files} ({'; '.join([*lacking, *then])})"

    def mistakes(self, dataset: str) -> list[str]:
        """Return the faults of folders that the user named for the dataset: missing or incomplete."""
        found = []
        for key, folder, files, elsewhere in self.absent(dataset):
            if folder is not None and not elsewhere:
                lack = f"has no file {', '.join(files)}" if folder.is_dir() else "is not a folder"
                where = f"dataset {dataset}: {folder} ({self.called(key)})"
                found.append(f"{where} {lack}; {self._expected(dataset, key)}")
        return found

    def _expected(self, dataset: str, key: str) -> str:
        spec = self.specs.datasets[dataset]
        where = f", to be applied for at {spec.apply}" if spec.apply else ""
        return f"expected there: {', '.join(local_names(spec)[key])}{where}"

    def check_local_files(self) -> None:
        """Check that folders named for datasets of the study hold their files; one `PubmillError` for all."""
        mistakes = [text for dataset in self.wanted_datasets() for text in self.mistakes(dataset)]
        if mistakes:
            advice = "Put the files there, or leave the datasets out (`datasets:` of the study)."
            raise PubmillError("\n".join([*mistakes, advice]))

    def check_access(self, dataset: str) -> None:
        """Check that the files of a dataset are available; for a dataset that the user requests by name."""
        spec = self.specs.datasets.get(dataset)
        if spec is None:
            raise PubmillError(f"there is no specs/datasets/{dataset}.yaml")
        if mistakes := self.mistakes(dataset):
            raise PubmillError("\n".join(mistakes))
        whose = f"files that you apply for at {spec.apply}" if spec.apply else "files of your own"
        for key, _, files, _ in self.absent(dataset):
            raise PubmillError(
                f"dataset {dataset} needs {whose}: {', '.join(files)}\nThen {how_to_bring(key)}"
            )
        if urls := self.unmirrored(dataset):
            lines = [
                f"dataset {dataset}: {url}: expected the file {path_in_mirror(url, self.study.mirror)}, "
                f"which does not exist"
                for url in urls
            ]
            advice = "Fetch what is missing on a machine with a network connection and put it there."
            raise PubmillError("\n".join([*lines, advice]))
