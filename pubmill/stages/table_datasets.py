"""Datasets of tables, and their availability in a run: users supply files that need an application, and a
mirror may hold only some of the public ones."""

from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.recipes.tables import NOT_RUN
from pubmill.specs import DatasetSpec, File, LocalFile, TableSpec
from pubmill.stages.stage import GraphPart, cached
from pubmill.stages.user_folders import how_to_bring
from pubmill.storage.sources import path_in_mirror

NOT_WANTED = "not part of this study"


class TableDatasets(GraphPart):
    """Datasets behind the rows of tables, and why some are not run in a study."""

    def required(self, table: TableSpec, row: str) -> list[str]:
        """Return the datasets that the runs behind a row are scored on, chosen on, and begin with."""
        parts = self.graph.runs.parts(table.protocol, row)
        folds = self._specs.protocols[table.protocol].folds.get(row)
        used = [*parts, *([folds.chosen_on] if folds else [])]
        pairs = {
            (table.protocol_of(column, of), setting)
            for column in table.columns
            for of in table.rows
            if table.dataset_of(column, of) == row
            for setting in table.settings_of(column, of)
        }
        known = [(self._specs.protocols[protocol], setting) for protocol, setting in sorted(pairs)]
        runs = [(protocol, setting) for protocol, setting in known if setting in protocol.settings]
        for name in used:
            for start in (protocol.start(name, setting) for protocol, setting in runs):
                if start is not None and start not in used:
                    used.append(start)
        return used

    def known_rows(self, table: TableSpec) -> list[str]:
        """Return the datasets of rows and cells that have a spec, whether or not the study requests them."""
        known, parts = self._specs.datasets, self.graph.runs.parts
        return [name for name in table.datasets() if all(p in known for p in parts(table.protocol, name))]

    def is_scored(self, table: TableSpec, row: str) -> bool:
        """Return whether the runs of a row are scored in this study."""
        parts = self.graph.runs.parts(table.protocol, row)
        return all(name in self._specs.datasets for name in parts) and self.row_obstacle(table, row) is None

    def row_obstacle(self, table: TableSpec, row: str) -> str | None:
        """Return why a row whose datasets have specs is not run in this study: their first obstacle."""
        if not self.graph.requests.has_dataset(row):
            return NOT_RUN
        reasons = ((name, self.graph.access.obstacle(name)) for name in self.required(table, row))
        return next((why if name == row else f"{name} {why}" for name, why in reasons if why), None)

    def obstacle(self, dataset: str) -> str | None:
        """Return why an existing dataset is not converted in this study; None if it is."""
        return self.graph.access.obstacle(dataset) if self.graph.requests.has_dataset(dataset) else NOT_WANTED

    def of_fact_table(self, table: str) -> list[str]:
        """Return the datasets of a table of facts that can be converted in this study."""
        named = dict.fromkeys(self._specs.fact_tables[table].datasets)
        return [name for name in named if name in self._specs.datasets and self.obstacle(name) is None]

    def wanted(self) -> list[str]:
        """Return datasets with a spec that the study's tables name, and those that runs behind their rows
        need, except those that its `datasets:` leaves out."""
        is_requested, facts = self.graph.requests.has_dataset, self._specs.fact_tables
        tables = [self._specs.tables[table] for table in self.graph.requests.result_tables()]
        named = [
            name
            for table in self._study.tables
            for name in (facts[table].datasets if table in facts else self._specs.tables[table].datasets())
        ]
        rows = [(table, row) for table in tables for row in table.datasets() if is_requested(row)]
        behind = [name for table, row in rows for name in self.required(table, row)]
        wanted = dict.fromkeys([*filter(is_requested, named), *behind])
        return [name for name in wanted if name in self._specs.datasets and self.graph.access.exists(name)]

    def left_out(self) -> list[str]:
        """Return one line for each dataset that the study's tables request but that is unavailable, with the
        reason and what to do."""
        advice = "; fetch what is missing into the mirror, or set `mirror: null`"
        rows = [name for table in self.graph.requests.result_tables() for name in self._requested_rows(table)]
        named = dict.fromkeys([*self.wanted(), *rows])
        reasons = [(name, self.graph.access.obstacle(name)) for name in named]
        return [
            f"left out of the tables: {name} ({reason}{advice if self.graph.access.unmirrored(name) else ''})"
            for name, reason in reasons
            if reason
        ]

    def _requested_rows(self, table: str) -> list[str]:
        """Return the datasets of a table of results that have a spec and that the study requests."""
        names = filter(self.graph.requests.has_dataset, self._specs.tables[table].datasets())
        return [name for name in names if name in self._specs.datasets]

    def check_scale(self) -> None:
        """Check that the scale has the datasets that the study names, and one of each table of results; a
        `PubmillError` lists what it lacks."""
        exists = self.graph.access.exists
        named = [name for name in self._study.datasets or () if name in self._specs.datasets]
        rows = {table: self._requested_rows(table) for table in self.graph.requests.result_tables()}
        lacking = [f"dataset {name}" for name in named if not exists(name)] + [
            f"{table}: every dataset ({', '.join(names)})"
            for table, names in rows.items()
            if names and not any(map(exists, names))
        ]
        if lacking:
            raise PubmillError(
                f"scale {self._study.scale} has made-up data, and datasets of which you have every file; it "
                f"lacks {'; '.join(lacking)}. Choose another `scale:`, or download the files into a folder "
                f"and run {commands.pubmill('new', 'dataset', './FOLDER')}"
            )

    def check_folders(self) -> None:
        """Check that folders named for datasets of the study hold their files; one `PubmillError` for all."""
        mistakes = [text for dataset in self.wanted() for text in self.graph.access.mistakes(dataset)]
        if mistakes:
            advice = "Put the files there, or leave the datasets out (`datasets:` of the study)."
            raise PubmillError("\n".join([*mistakes, advice]))


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
        found = []
        for key, names in local_names(self._specs.datasets[dataset]).items():
            folder = self.graph.folders.find(key)
            missing = [name for name in names if folder is None or not (folder / name).is_file()]
            if missing:
                others = {n for spec in self._specs.datasets.values() for n in local_names(spec).get(key, ())}
                in_vain = folder if missing == names else None
                elsewhere = in_vain is not None and any((in_vain / name).is_file() for name in others)
                found.append(Absent(key, folder, missing, elsewhere))
        return found

    @cached
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
        urls = self.unmirrored(dataset)
        more = f" and {len(urls) - 1} more" if len(urls) > 1 else ""
        public = f"the mirror lacks {urls[0]}{more}" if urls else None
        return "; ".join(filter(None, (self._own_obstacle(dataset), public))) or None

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
        faults, spec = [], self._specs.datasets[dataset]
        for key, folder, files, elsewhere in self.absent(dataset):
            if folder is not None and not elsewhere:
                lack = f"has no file {', '.join(files)}" if folder.is_dir() else "is not a folder"
                where = f"dataset {dataset}: {folder} ({self.graph.folders.setting(key)})"
                expected = ", ".join(local_names(spec)[key])
                source = f", to be applied for at {spec.apply}" if spec.apply else ""
                faults.append(f"{where} {lack}; expected there: {expected}{source}")
        return faults

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
