"""Refuse records that were made differently and must not share a row or a cell."""

from collections.abc import Mapping
from dataclasses import replace

from pandas import DataFrame

from pubmill.errors import PubmillError
from pubmill.recipes.tables import NOT_RUN, TableRecipe
from pubmill.tables.recorded_runs import CELL

UNLIKE = f"{NOT_RUN}; its records on disk are of other data, weights or versions than those of its row"

OF_PREDICTING = ("finetune", "annotate")
"""Stages of a record's versions that make predictions; the others are of data and scoring."""

IN_CELL = {"model_sha256": "model weights", "recipe": "recipe"}
"""Fields that all seeds of a model on a dataset, including all its folds, must share, with their names."""
_DATA = {"split": "split", "data_sha256": "data hash"}
IN_ROW = {**_DATA, "trained_on_sha256": "training data", "versions": "versions"}
"""Fields that the records of a dataset or fold must share, among fine-tuned models or among pipelines."""
OF_SCORING = {**_DATA, "scoring_versions": "versions"}
"""Fields that all records of a dataset or fold must share, of fine-tuned models and pipelines alike."""


def refuse_mixtures(runs: DataFrame) -> None:
    """Refuse rows that mix data, splits or stage versions, and cells whose seeds mix weights or recipes.

    Pipelines are not trained here, so they share only the scored data and the scoring with fine-tuned models.
    """
    known = runs[runs["recorded"]]
    known = known.assign(scoring_versions=known["versions"].map(_scoring_versions))
    kinds = ["row", "dataset", "pipeline"]
    first_of_kinds = known.sort_values("pipeline", kind="stable").drop_duplicates(kinds)
    _refuse_differences("cell", CELL, IN_CELL, known)
    _refuse_differences("row", kinds, IN_ROW, known)
    _refuse_differences("row", ["row", "dataset"], OF_SCORING, first_of_kinds)


def _scoring_versions(versions: Mapping[str, object]) -> dict[str, object]:
    """Select the versions of the stages that fine-tuned models and pipelines share."""
    return {stage: version for stage, version in versions.items() if stage not in OF_PREDICTING}


def without_unlike(recipe: TableRecipe, runs: DataFrame) -> tuple[TableRecipe, DataFrame]:
    """Leave out the runs found on disk that must not share a row with the study's own. Found records were
    checked before the study's examples and weights were rebuilt, perhaps with other content."""
    cells = runs["column"] + "/" + runs["row"]
    kept, missing = ~cells.isin(recipe.found), dict(recipe.missing)
    for cell in dict.fromkeys(recipe.found):
        own = cells == cell
        in_row = runs["row"].isin(runs["row"][own])
        try:
            refuse_mixtures(runs[(kept | own) & in_row])
            kept |= own
        except PubmillError:
            missing[cell] = UNLIKE
    return replace(recipe, missing=missing), runs[kept]


def _refuse_differences(where: str, keys: list[str], fields: Mapping[str, str], runs: DataFrame) -> None:
    """Refuse runs that differ in `fields` from the first one with the same `keys`."""
    groups = runs[[*fields]].map(repr).groupby([runs[key] for key in keys], sort=False)
    distinct = groups.transform("nunique").max(axis=1)
    for _, of_group in runs[distinct > 1].groupby(keys, sort=False):
        values = of_group[[*fields]].astype(object)
        first, *others = values.where(values.notna(), None).to_dict("records")
        for path, other in zip(of_group["path"].iloc[1:], others, strict=True):
            mixed = [
                f"{name}: {_difference_text(first[field], other[field])}"
                for field, name in fields.items()
                if first[field] != other[field]
            ]
            if mixed:
                raise PubmillError(
                    f"{of_group['path'].iloc[0]} and {path} must not share one {where}; they differ in "
                    f"{'; '.join(mixed)}. Rebuild the older one (remove it and request the table)"
                )


def _difference_text(one: object, other: object) -> str:
    """Describe two different values; for mappings, only the keys that differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
        return ", ".join(f"{key} {one.get(key)} against {other.get(key)}" for key in keys)
    return f"{one} against {other}"
