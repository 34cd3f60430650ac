"""Transfers: a run's model on other datasets with mentions of the same type."""

from pubmill.errors import PubmillError
from pubmill.extras.transfer.transfers import TransferMatrixRecipe, TransferRecipe
from pubmill.recipes.tables import project
from pubmill.stages.stage import HOUR, TEMPLATES, Needs, Stage
from pubmill.storage.result_paths import BELOW, RunKey


class Transfer(Stage):
    """Scores of a run's model on another dataset."""

    name, group = "transfer", "annotate"
    label = "Scoring {wildcards.model} of {wildcards.dataset} on {wildcards.target}, seed {wildcards.seed}"
    version = 1
    needs = Needs(8_000, 4 * HOUR)

    def recipe(self, run: RunKey, seed: int, target: str) -> TransferRecipe:
        """Return the recipe of a run and another dataset; a `PubmillError` if their types differ."""
        self.graph.runs.check(run)
        dataset, known = run.dataset, self._specs.datasets
        if target not in known:
            raise PubmillError(f"there is no specs/datasets/{target}.yaml")
        own, other = known[dataset], known[target]
        if own.mentions is None or own.mentions != other.mentions:
            alike = [name for name, one in known.items() if one.mentions == own.mentions and name != dataset]
            fitting = alike if own.mentions else []
            raise PubmillError(
                f"a model of {dataset} (mentions: {own.mentions}) cannot be scored on {target} (mentions: "
                f"{other.mentions}); datasets with the same `mentions:` are {', '.join(fitting) or 'none'}"
            )
        return project(
            TransferRecipe,
            run,
            seed=seed,
            scale=self._study.scale,
            trained_on=dataset,
            scored_on=target,
            mentions=own.mentions,
            metric=other.metric,
        )


class TransferMatrixStage(Stage):
    """Scores of a model on all datasets with mentions of one type."""

    name, group, label = "transfer_matrix", "tables", "Scoring {wildcards.model} on other datasets"
    version = 1
    read_by_name = (TEMPLATES,)

    def types(self) -> dict[str, tuple[str, ...]]:
        """Return the study's datasets by the type of their mentions, where there are two or more of it."""
        by_type: dict[str, list[str]] = {}
        for name in self.graph.scope.datasets():
            if kind := self._specs.datasets[name].mentions:
                by_type.setdefault(kind, []).append(name)
        return {kind: tuple(names) for kind, names in sorted(by_type.items()) if len(names) > 1}

    def recipe(self, protocol: str, model: str, setting: str) -> TransferMatrixRecipe:
        """Return the TransferMatrixRecipe of a model."""
        types = self.types()
        if not types:
            raise PubmillError(
                "the study has no two datasets with mentions of one type (`mentions:` of their specs)"
            )
        datasets = [name for names in types.values() for name in names]
        specs, spec = self._specs.datasets, self.graph.runs.protocol(protocol)
        scores = {
            one: {other: self._files(RunKey(protocol, model, one, setting), other) for other in names}
            for names in types.values()
            for one in names
        }
        return TransferMatrixRecipe(
            protocol=protocol,
            model=model,
            setting=setting,
            scale_title=self.graph.datasets.scale_title(datasets),
            comparable=self._specs.scale.comparable,
            aggregate=spec.final.aggregate,
            metrics={name: specs[name].metric for name in datasets},
            labels={name: specs[name].label or name for name in datasets},
            types=types,
            scores=scores,
        )

    def _files(self, run: RunKey, other: str) -> tuple[str, ...]:
        """Return the files with the scores of a run's seeds on `other`; on its own dataset, its records."""
        seeds = self.graph.runs.seeds(run)
        own = run.dataset == other
        return tuple(BELOW.record(run, one) if own else BELOW.transfer(other, run, one) for one in seeds)

    def inputs(self, protocol: str, model: str, setting: str) -> list[str]:
        """Return the files with the scores of a matrix."""
        scores = self.recipe(protocol, model, setting).scores.values()
        return [self._paths.at(path) for row in scores for files in row.values() for path in files]
