"""Availability of datasets in a run: users supply files that need an application, and a mirror may hold only
some of the public ones."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.specs import DatasetSpec, File, LocalFile
from pubmill.stages.stage import GraphPart, remembered
from pubmill.stages.user_folders import how_to_bring
from pubmill.storage.sources import path_in_mirror


class Absent(NamedTuple):
    """Files of one key that a dataset needs and that aren't there. `folder` is None where none is named;
    `elsewhere` says that the folder has files of other datasets of that key, but none of this one."""

    key: str
    folder: Path | None
    files: list[str]
    elsewhere: bool


def local_names(spec: DatasetSpec) -> dict[str, list[str]]:
    """Return the files that the user supplies, by the key of `local_files`, in the order of the spec."""
    names: dict[str, list[str]] = {}
    for file in spec.sources.values():
        if isinstance(file, LocalFile) and file.file not in names.setdefault(file.local, []):
            names[file.local].append(file.file)
    return names


class DatasetAccess(GraphPart):
    """Availability of users' files and of a mirror's files, and the messages about missing ones."""

    def exists(self, dataset: str) -> bool:
        """Return whether the scale has the dataset. A scale with made-up data has those that its overlay
        names, and those whose files are all the user's."""
        scale, files = self._specs.scale, self._specs.datasets[dataset].sources.values()
        made_up = dataset in scale.datasets
        return not scale.made_up or made_up or all(isinstance(file, LocalFile) for file in files)

    def absent(self, dataset: str) -> list[Absent]:
        """Return the user's files that the dataset needs but that do not exist, by key."""
        return list(self._find_absent(dataset))

    def _find_absent(self, dataset: str) -> Iterator[Absent]:
        for key, names in local_names(self._specs.datasets[dataset]).items():
            folder = self.graph.folders.find(key)
            missing = [name for name in names if folder is None or not (folder / name).is_file()]
            if missing:
                others = {n for spec in self._specs.datasets.values() for n in local_names(spec).get(key, ())}
                elsewhere = (
                    folder is not None
                    and missing == names
                    and any((folder / name).is_file() for name in others)
                )
                yield Absent(key, folder, missing, elsewhere)

    @remembered
    def unmirrored(self, dataset: str) -> list[str]:
        """Return URLs of the dataset's public files that neither the results nor the mirror have. None
        without a mirror: the network is assumed to have them. The search is made once, so that files that
        arrive during a run do not change it."""
        sources = self._specs.datasets[dataset].sources.values()
        urls = dict.fromkeys(file.url for file in sources if isinstance(file, File))
        return [url for url in urls if not self._is_at_hand(url)]

    def _is_at_hand(self, url: str) -> bool:
        if self._study.mirror is None or Path(self._paths.source_of_url(url)).is_file():
            return True
        mirrored = path_in_mirror(url, self._study.mirror)
        return mirrored is not None and mirrored.is_file()

    def obstacle(self, dataset: str) -> str | None:
        """Return why the dataset's files are unavailable in this run, and where to apply for them; or None.
        The reason appears in tables, so it names no folder of this machine."""
        if not self.exists(dataset):
            return "is not among the made-up data of this scale"
        reasons = [self._own_obstacle(dataset), self._public_obstacle(dataset)]
        return "; ".join(reason for reason in reasons if reason) or None

    def _public_obstacle(self, dataset: str) -> str | None:
        urls = self.unmirrored(dataset)
        more = f" and {len(urls) - 1} more" if len(urls) > 1 else ""
        return f"the mirror lacks {urls[0]}{more}" if urls else None

    def _own_obstacle(self, dataset: str) -> str | None:
        absent = self.absent(dataset)
        if not absent:
            return None
        apply = self._specs.datasets[dataset].apply
        files = f"files that you apply for at {apply}" if apply else "files of your own"
        unset = [one.key for one in absent if one.folder is None]
        lacking = [f"{one.key} lacks {', '.join(one.files)}" for one in absent if one.folder is not None]
        then = [f"then set local_files: {', '.join(unset)}"] if unset else []
        return f"needs {files} ({'; '.join([*lacking, *then])})"

    def mistakes(self, dataset: str) -> list[str]:
        """Return the faults of folders that the user named for the dataset: missing or incomplete."""
        faults = []
        for key, folder, files, elsewhere in self.absent(dataset):
            if folder is not None and not elsewhere:
                lack = f"has no file {', '.join(files)}" if folder.is_dir() else "is not a folder"
                where = f"dataset {dataset}: {folder} ({self.graph.folders.setting(key)})"
                faults.append(f"{where} {lack}; {self._expected_files_text(dataset, key)}")
        return faults

    def _expected_files_text(self, dataset: str, key: str) -> str:
        spec = self._specs.datasets[dataset]
        where = f", to be applied for at {spec.apply}" if spec.apply else ""
        return f"expected there: {', '.join(local_names(spec)[key])}{where}"

    def check(self, *datasets: str) -> None:
        """Check that the files of datasets that the user requests by name are available; one `PubmillError`
        names all that are missing."""
        faults = [text for dataset in datasets for text in self._faults(dataset)]
        if any(dataset in self._specs.datasets and self.unmirrored(dataset) for dataset in datasets):
            faults.append("Fetch what is missing on a machine with a network connection and put it there.")
        if faults:
            raise PubmillError("\n".join(faults))

    def _faults(self, dataset: str) -> list[str]:
        """Return all faults of the files of a dataset."""
        spec = self._specs.datasets.get(dataset)
        if spec is None:
            return [f"there is no specs/datasets/{dataset}.yaml"]
        whose = f"files that you apply for at {spec.apply}" if spec.apply else "files of your own"
        absent = [one for one in self.absent(dataset) if one.folder is None or one.elsewhere]
        return [
            *self.mistakes(dataset),
            *(
                f"dataset {dataset} needs {whose}: {', '.join(one.files)}\nThen {how_to_bring(one.key)}"
                for one in absent
            ),
            *(
                f"dataset {dataset}: {url}: expected the file {path_in_mirror(url, self._study.mirror)}, "
                f"which does not exist"
                for url in self.unmirrored(dataset)
            ),
        ]
