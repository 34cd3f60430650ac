"""Records: how they are scored, and whether the current recipes would make those on disk.

A table shows a record that no job of the study makes only if the present recipes would make the same record:
the digest that it carries, of the recipes and stage versions of its scoring, predictions, dataset and model,
must equal the present one, and so must the hashes of examples and weights at hand. Snakemake cannot decide
this: it does not know records that it did not make or that no target requests.
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pubmill.errors import PubmillError
from pubmill.recipes.reading import as_json
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.recipes.tables import project
from pubmill.stages.dataset_jobs import Convert
from pubmill.stages.model_jobs import ExportModel
from pubmill.stages.run_stages import Choose, Finetune, TrialStage, scoring_versions
from pubmill.stages.stage import GraphPart, Stage, cached
from pubmill.stages.supplied_predictions import OFF_THE_SHELF, TakePredictions, answering
from pubmill.storage.checksums import folder_sha256, hashed_files
from pubmill.storage.files import read_json, sha256
from pubmill.storage.model_folders import WEIGHTS
from pubmill.storage.result_paths import ChoiceKey, RunKey, run_of

UNREADABLE = "can't be read"
OTHER_RECIPES = "from an older recipe or stage version"
NO_ITEMS = "without the contributions of each document"
OTHER_EXAMPLES = "of examples that have changed since"
OTHER_WEIGHTS = "of model weights that have changed since"


class Records(GraphPart):
    """Scoring recipes of records, and whether tables may show records on disk."""

    def scoring_recipe(self, run: RunKey, seed: int = 1) -> ScoringRecipe:
        """Return the ScoringRecipe of a run, fine-tuned here or not, except the digest of how it was made."""
        data = self._specs.datasets[run.dataset]
        predicting = Finetune if run.protocol != OFF_THE_SHELF else TakePredictions
        return project(
            ScoringRecipe,
            data,
            **run._asdict(),
            seed=seed,
            scale=self._study.scale,
            split=self.graph.supplied.split_of(run),
            versions={predicting.name: predicting.version, **scoring_versions(data)},
        )

    def recipe(self, run: RunKey, seed: int = 1) -> ScoringRecipe:
        """Return the ScoringRecipe of a run."""
        return replace(self.scoring_recipe(run, seed), made_by=self.made_by(run))

    @cached
    def made_by(self, run: RunKey) -> str:
        """Return the digest of the recipes and stage versions of a run's scoring, predictions, dataset and
        model, whatever the seed."""
        if run.protocol != OFF_THE_SHELF:
            predicted = self._fine_tuning(run)
        else:
            names = {"submission": run.model, "asked": run.model, "dataset": run.dataset}
            asked = answering() if run.model in self.graph.supplied.asked_names() else ()
            predicted = [self._content(stage, **names) for stage in (TakePredictions, *asked)]
        sources = self._specs.datasets[run.dataset].sources.items()
        files = {role: file.model_dump(mode="json") for role, file in sources}
        examples = [self._content(Convert, dataset=run.dataset), files]
        return _digest([self.scoring_recipe(run), predicted, examples])

    def _fine_tuning(self, run: RunKey) -> list[Any]:
        """Return what decides a run's predictions: its recipe, the model that it begins with, and what is
        searched for it."""
        runs, protocol = self.graph.runs, self.graph.runs.protocol(run.protocol)
        start = protocol.start(run.dataset, run.setting)
        content = [
            self._content(Finetune, **run._asdict()),
            runs.split_arguments(run.protocol, run.dataset, trial=False),
            self._fine_tuning(run._replace(dataset=start)) if start else self._model(run.model),
        ]
        choice = runs.choice(run)
        return [*content, self._search(choice)] if choice else content

    @cached
    def _search(self, choice: ChoiceKey) -> str:
        """Return the digest of what decides a choice of hyper-parameters."""
        runs, search = self.graph.runs, self.graph.runs.protocol(choice.protocol).search
        searched = [RunKey(choice.protocol, one, *choice[2:]) for one in runs.searchers(choice)]
        return _digest(
            [
                [Choose.version, runs.choice_recipe(choice), search and search.seeds],
                [TrialStage.version, runs.split_arguments(choice.protocol, choice.dataset, trial=True)],
                [[runs.trial_recipe(one, point) for point in runs.points(one)] for one in searched],
                [self._model(one.model) for one in searched],
            ]
        )

    def _model(self, model: str) -> list[Any]:
        return self._content(ExportModel, model=model)

    def _content(self, kind: type[Stage], **wildcards: str) -> list[Any]:
        """Return the name, version and recipe of a job of a stage."""
        stage, job = self.graph.stage(kind), SimpleNamespace(**wildcards)
        return [kind.name, stage.version_of(job), stage.recipe_of(job)]

    def at_hand(self, records: Sequence[str]) -> list[str]:
        """Return those records that are on disk; paths are below the results folder."""
        return [path for path in records if Path(self._paths.at(path)).is_file()]

    def is_current(self, record: str) -> bool:
        """Return whether a record is on disk and the current recipes would make it."""
        return bool(self.at_hand([record])) and self.stale(record) is None

    def stale(self, record: str) -> str | None:
        """Return why a record on disk differs from what the current recipes would make; None if it does not.
        Examples and weights that changed after it was scored are compared by content; missing ones are not
        compared."""
        path, now = Path(self._paths.at(record)), None
        try:
            made = read_json(path)
        except PubmillError:
            return UNREADABLE
        with suppress(PubmillError):  # the run is no longer possible
            now = self.made_by(run_of(record).run)
        if not isinstance(made, dict) or made.get("made_by") != now:
            return OTHER_RECIPES
        if not Path(self._paths.contributions(str(path))).is_file():
            return NO_ITEMS
        if self._examples_differ(made, path):
            return OTHER_EXAMPLES
        return OTHER_WEIGHTS if self._weights_differ(made, path) else None

    def _examples_differ(self, made: dict[str, Any], record: Path) -> bool:
        hashes = {**made["trained_on_sha256"], made["split"]: made["data_sha256"]}
        files = {Path(self._paths.examples(made["dataset"], split)): sha for split, sha in hashes.items()}
        newer = {file: sha for file, sha in files.items() if _is_newer(file, record)}
        return any(self.graph.digests.of(file) != sha for file, sha in newer.items())

    def _weights_differ(self, made: dict[str, Any], record: Path) -> bool:
        if made["protocol"] == OFF_THE_SHELF:
            return False  # its weights, if it has any, are elsewhere
        run = RunKey(made["protocol"], made["model"], made["dataset"], made["setting"])
        folder = Path(self.graph.runs.first_model(run))
        if not (folder / WEIGHTS).is_file():
            return False
        changed = any(_is_newer(file, record) for file in hashed_files(folder))
        return changed and folder_sha256(folder, self.graph.digests.of) != made["model_sha256"]

    def digest_of(self, records: Sequence[str]) -> str:
        """Return one digest over the contents of records on disk."""
        lines = [f"{path} {sha256(Path(self._paths.at(path)))}\n" for path in self.at_hand(records)]
        return hashlib.sha256("".join(lines).encode()).hexdigest() if lines else ""


def _digest(content: list[Any]) -> str:
    return hashlib.sha256(as_json(content).encode()).hexdigest()


def _is_newer(file: Path, record: Path) -> bool:
    return file.is_file() and file.stat().st_mtime_ns > record.stat().st_mtime_ns
