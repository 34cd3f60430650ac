"""Why datasets, models and cells of tables are not run in a study: users supply files that need an
application, a mirror may hold only some of the public ones, and a study requests part of its tables. With
the folders that users name in `local_files`, and the digests of the files in them."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.installation import DRY_RUN
from pubmill.recipes.models import LocalWeights, PretrainedWeights
from pubmill.recipes.tables import NOT_RUN
from pubmill.specs import DatasetSpec, File, LearntVocabSpec, LocalFile, TableSpec
from pubmill.specs.corpus_specs import MimicSource, TextSource
from pubmill.specs.model_specs import PredictionsWeights, PromptedWeights
from pubmill.specs.study import Study
from pubmill.specs.table_specs import ColumnSpec, RowSpec
from pubmill.stages.stage import GraphPart, cached
from pubmill.stages.supplied_predictions import answering
from pubmill.storage.files import sha256
from pubmill.storage.privacy import CREDENTIALED
from pubmill.storage.sources import path_in_mirror


def how_to_bring(key: str) -> str:
    """Return the instruction for supplying the user's files that a spec names by a key."""
    return (
        f"set local_files: {{{key}: /path/to/folder}} in the configuration (or "
        f"{commands.local_files(key)}), or put them into local/{key} of the mirror"
    )


class UserFolders:
    """A user's folders: `local_files.KEY` of the configuration, or `local/KEY` in the mirror."""

    def __init__(self, study: Study) -> None:
        self._study = study

    def find(self, key: str) -> Path | None:
        """Return the folder of a key; None if the configuration names none and the mirror has none."""
        if key in self._study.local_files:
            return _without_braces(Path(self._study.local_files[key]).expanduser(), key)
        folder = Path(self._study.mirror) / "local" / key if self._study.mirror else None
        return _without_braces(folder, key) if folder and folder.is_dir() else None

    def setting(self, key: str) -> str:
        """Return where a folder is specified: a key of the configuration, or the mirror."""
        return f"local_files.{key}" if key in self._study.local_files else f"local/{key} of the mirror"

    def require(self, key: str, who: str) -> Path:
        """Return the folder of a key; a `PubmillError` if there is none."""
        folder = self.find(key)
        if folder is None:
            others = ", ".join(sorted(self._study.local_files))
            known = f"; local_files has only {others}" if others else ""
            raise PubmillError(f"{who} needs files of your own: {how_to_bring(key)}{known}")
        return folder


def _without_braces(folder: Path, key: str) -> Path:
    """Return the folder; a `PubmillError` if its path has braces."""
    if set("{}") & set(str(folder.resolve())):
        raise PubmillError(
            f"{folder} ({key}): Snakemake takes braces in a path for wildcards; rename the folder or file"
        )
    return folder


SETTLED = 2.0
"""A digest is stored only if the file last changed more than this many seconds ago: another change within the
clock's resolution could leave size and times unchanged."""


class Digests:
    """Digests of files, stored as lines of JSON (path, size, time of content, time of inode, SHA-256). Only
    its owner may read the store: it names files of the user's own. Lines are only appended; the last one
    of a path counts. If the store can't be read or written, or in a dry run, files are only read again."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self._known: dict[str, tuple[list[int], str]] | None = None

    def of(self, path: Path) -> str:
        """Return the SHA-256 of a file in hex; it is read only if it has changed since it was last read."""
        name, state = str(path.resolve()), _file_state(path)
        known = self._read_store()
        if name in known and known[name][0] == state:
            return known[name][1]
        digest = sha256(path)
        known[name] = (state, digest)
        if state == _file_state(path) and time.time() - max(state[1:]) / 1e9 > SETTLED:
            self._append_line([name, *state, digest])
        return digest

    def of_folder(self, folder: Path) -> dict[str, str]:
        """Return the digests of a folder's files by their names, relative to it."""
        files = sorted(path for path in folder.glob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): self.of(path) for path in files}

    def _read_store(self) -> dict[str, tuple[list[int], str]]:
        if self._known is None:
            self._known = {}
            try:
                lines = self.store.read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError):
                lines = []
            for line in lines:
                with suppress(ValueError, TypeError, RecursionError):  # damaged, such as by a killed process
                    name, *state, digest = json.loads(line)
                    self._known[str(name)] = state, str(digest)
        return self._known

    def _append_line(self, line: list[str | int]) -> None:
        if DRY_RUN in os.environ:
            return
        with suppress(OSError):  # a results folder that is read only
            self.store.parent.mkdir(parents=True, exist_ok=True)
            to = os.open(self.store, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(to, json.dumps(line).encode() + b"\n")
            finally:
                os.close(to)


def _file_state(path: Path) -> list[int]:
    """Return size, mtime and ctime of a file, the times in ns; no program can set back the ctime."""
    state = path.stat()
    return [state.st_size, state.st_mtime_ns, state.st_ctime_ns]


NOT_WANTED = "not part of this study"
NOT_PRETRAINED = "not pretrained in this study: none of its tables of results has the model"
COPIED = "the paper copied this value from {} ({}), so no run of its own stands behind it"
NO_SETTING = "the paper's setting is not for this dataset"
NOT_PROMPTED = "needs an extra that prompts language models, and none is here"
NONE_SUPPLIED = "no predictions for this dataset are supplied"
NOT_LOCAL = (
    "the dataset is credentialed, and the system is not declared to run locally (`local: true` of its "
    "statement), so its text must not have been sent to it"
)


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


class Availability(GraphPart):
    """Reasons against running datasets, models and cells; None where there is none. They appear in tables, so
    they name no folder of this machine."""

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

    def dataset(self, dataset: str) -> str | None:
        """Return why the dataset's files are unavailable in this run, and where to apply for them."""
        if not self.exists(dataset):
            return "is not among the made-up data of this scale"
        reasons = []
        if absent := self.absent(dataset):
            unset = [one.key for one in absent if one.folder is None]
            parts = [f"{one.key} lacks {', '.join(one.files)}" for one in absent if one.folder is not None]
            parts += [f"then set local_files: {', '.join(unset)}"] if unset else []
            reasons.append(f"needs {_whose_files(self._specs.datasets[dataset])} ({'; '.join(parts)})")
        if urls := self.unmirrored(dataset):
            more = f" and {len(urls) - 1} more" if len(urls) > 1 else ""
            reasons.append(f"the mirror lacks {urls[0]}{more}")
        return "; ".join(reasons) or None

    def dataset_of_study(self, dataset: str) -> str | None:
        """Return why an existing dataset is not converted in this study."""
        return self.dataset(dataset) if self.graph.requests.has_dataset(dataset) else NOT_WANTED

    def row(self, table: TableSpec, row: str) -> str | None:
        """Return why the runs of a row, named by its dataset or folds, are not scored in this study."""
        known = all(part in self._specs.datasets for part in self.graph.runs.parts(table.protocol, row))
        if not known or not self.graph.requests.has_dataset(row):
            return NOT_RUN
        reasons = ((name, self.dataset(name)) for name in self.graph.table_datasets.required(table, row))
        return next((why if name == row else f"{name} {why}" for name, why in reasons if why), None)

    @cached
    def model(self, model: str) -> str | None:
        """Return why a model is unavailable in this run: no folder of its weights or predictions is named, no
        extra prompts it, or it is pretrained here on texts that are not there."""
        weights = self._specs.models[model].weights
        if isinstance(weights, PromptedWeights):
            return None if answering() else NOT_PROMPTED
        if isinstance(weights, PredictionsWeights):
            return self._lacks("predictions that you supply", weights.local)
        return next(self._lacking_weights_and_texts(model), None)

    def _lacks(self, what: str, key: str) -> str | None:
        is_named = self.graph.folders.find(key) is not None
        return None if is_named else f"needs {what} (then set local_files: {key})"

    def _lacking_weights_and_texts(self, model: str) -> Iterator[str]:
        recipes = [self._specs.pretraining[name] for name in self.graph.models.last_steps([model])]
        for name in self.ancestry(model):
            weights = self._specs.models[name].preferred(self._specs.scale.prefer == "released")
            if isinstance(weights, LocalWeights):
                whose = "its weights" if name == model else f"the weights of {name}"
                if lacking := self._lacks(f"{whose} in a folder of your own", weights.local):
                    yield lacking
        vocabs = [self._specs.vocabs[recipe.vocab] for recipe in recipes]
        learnt = [vocab.corpus for vocab in vocabs if isinstance(vocab, LearntVocabSpec)]
        corpora = (*(recipe.corpus for recipe in recipes), *learnt)
        for source in (one for corpus in corpora for one in self._specs.corpora[corpus].sources):
            if isinstance(source, MimicSource):
                texts = f"MIMIC-III, which must be applied for ({source.apply}"
            elif isinstance(source, TextSource) and source.origin:
                texts = f"texts that you provide ({source.name}: {source.origin}"
            else:
                continue
            if self.graph.folders.find(source.local) is None:
                yield f"is pretrained here on {texts}; then set local_files: {source.local})"

    def ancestry(self, model: str) -> dict[str, None]:
        """Return the model, and those that its pretrainings begin with or learn from."""
        recipes = [self._specs.pretraining[name] for name in self.graph.models.last_steps([model])]
        begun = [name for r in recipes for name in (r.start.model if r.start else None, r.teacher) if name]
        return dict.fromkeys([model, *begun])

    def model_of_study(self, model: str | None) -> str | None:
        """Return why a model is not run in this study."""
        return self.model(model) if self.graph.requests.has_model(model) else NOT_RUN

    def weights(self, model: str) -> str | None:
        """Return why a model's weights are unavailable in this study."""
        if not self.graph.requests.has_model(model):
            return NOT_WANTED
        if lacking := self.model(model):
            return lacking
        weights = self.graph.models.weights(model)
        if isinstance(weights, PretrainedWeights) and weights.recipe not in self.graph.scope.pretrainings():
            return NOT_PRETRAINED
        return None

    def predictions(self, model: str, dataset: str) -> str | None:
        """Return why there are no runs on a dataset of a model that is not fine-tuned here."""
        supplied = self.graph.supplied
        if dataset not in supplied.files(model):
            return NONE_SUPPLIED
        credentialed = self._specs.datasets[dataset].access == CREDENTIALED
        is_allowed = supplied.weights(model).system.local or supplied.licence(model, dataset)
        return NOT_LOCAL if credentialed and not is_allowed else None

    def missing(self, table: str) -> dict[str, str]:
        """Return why columns, rows and single cells (`column/row`) of a table have no score of ours."""
        spec, records = self._specs.tables[table], self.graph.tables.records(table)
        columns = self.graph.table_models.columns(table)
        reasons = {}
        for column in columns:
            if not column.sources and (why := self.model_of_study(column.model)):
                reasons[column.name] = column.missing or why
        for row in spec.rows:
            if why := self.row(spec, row.dataset):
                reasons[row.name] = row.missing or why
        for column in columns:
            for row in spec.rows if column.model else ():
                if row.name not in records.get(column.name, {}):
                    without = column.name in reasons or row.name in reasons
                    why = self._cell(spec, column, row, without)
                    reasons |= {f"{column.name}/{row.name}": why} if why else {}
        return reasons | self.graph.tables.found(table)[1]

    def _cell(self, table: TableSpec, column: ColumnSpec, row: RowSpec, without: bool) -> str | None:
        """Return why a single cell has no runs; None if its column or row has none (`without`)."""
        if copied := table.origin_title(column, row):
            return COPIED.format(copied, column.cells[row.name].why)
        model, dataset = table.model_of(column, row), table.dataset_of(column, row)
        if model != column.model and (why := self.model_of_study(model)):
            return why
        if dataset != row.dataset and (why := self.row(table, dataset)):
            return why
        if without or model is None:
            return None
        if model in self.graph.supplied.names():
            parts = self.graph.runs.parts(table.protocol_of(column, row), dataset)
            return next(filter(None, (self.predictions(model, part) for part in parts)), None)
        return NO_SETTING

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
        faults: list[str] = []
        for dataset in datasets:
            spec = self._specs.datasets.get(dataset)
            if spec is None:
                faults.append(f"there is no specs/datasets/{dataset}.yaml")
                continue
            faults += self.mistakes(dataset)
            for one in self.absent(dataset):
                if one.folder is None or one.elsewhere:
                    needs = f"dataset {dataset} needs {_whose_files(spec)}: {', '.join(one.files)}"
                    faults.append(f"{needs}\nThen {how_to_bring(one.key)}")
            for url in self.unmirrored(dataset):
                expected = f"expected the file {path_in_mirror(url, self._study.mirror)}"
                faults.append(f"dataset {dataset}: {url}: {expected}, which does not exist")
        if any(dataset in self._specs.datasets and self.unmirrored(dataset) for dataset in datasets):
            faults.append("Fetch what is missing on a machine with a network connection and put it there.")
        if faults:
            raise PubmillError("\n".join(faults))


def _whose_files(spec: DatasetSpec) -> str:
    return f"files that you apply for at {spec.apply}" if spec.apply else "files of your own"
