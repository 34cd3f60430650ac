"""Floors of a converted dataset: their predictions, written like those of a run, and their scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from pubmill.baselines.floors import floors_of
from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, Example, RegressionExample, SpanExample, read_examples
from pubmill.metrics import SCORERS
from pubmill.metrics.classes import score_correlation
from pubmill.recipes.datasets import FloorsRecipe
from pubmill.storage.files import sha256, write_jsonl_gz
from pubmill.storage.result_paths import PREDICTIONS
from pubmill.tables.row_floors import CeilingScore, DatasetFloors, FloorScores

AGREEMENT: Mapping[tuple[str, str], CeilingScore] = {
    ("pubmedqa", "accuracy"): CeilingScore(score=78.0, source="a single annotator (Jin et al. 2019)")
}
"""Dataset and metric -> the published score of annotators by that metric. Agreements by other measures, such
as kappa, are no ceiling of a score."""


def measure_floors(
    recipe: FloorsRecipe, files: Mapping[str, Path], output: Path | None = None
) -> DatasetFloors:
    """Predict test by each floor that fits the dataset; write the predictions into the folder `output`, if
    any, and return all scores. `files`: split -> file of its examples. The same examples give the same
    bytes."""
    kind = KINDS[recipe.kind]
    examples = {name: list(read_examples(path, kind)) for name, path in files.items()}
    if not examples.get("test") or not examples.get("train"):
        raise PubmillError(f"{recipe.name} needs examples in train and test; convert it again")
    floors: dict[str, FloorScores] = {}
    test: Sequence[Example] = examples["test"]
    for floor in floors_of(recipe.kind, recipe.task):
        known = [example for split in floor.splits for example in examples.get(split, [])]
        predicted = floor.predict(known, test)
        metrics = SCORERS[recipe.kind](test, predicted, recipe.negative).metrics
        floors[floor.name] = FloorScores(definition=floor.definition, metrics=metrics)
        if output is None:
            continue
        rows = [prediction_row(*both) for both in zip(test, predicted, strict=True)]
        write_jsonl_gz(output / f"{floor.name}{PREDICTIONS}", rows, private=recipe.access != "public")
    return DatasetFloors(
        dataset=recipe.name,
        data_sha256=sha256(files["test"]),
        floors=floors,
        ceilings={recipe.metric: ceiling_of(recipe, examples["test"])},
    )


def prediction_row(example: Example, prediction: Any) -> dict[str, object]:
    """Return a line of a file of predictions."""
    if isinstance(example, SpanExample):
        prediction = [{"text": text, "probability": probability} for text, probability in prediction]
    key = next(name for name in ("labels", "label", "score", "answers") if hasattr(example, name))
    return {"id": example.id, key: prediction}


def ceiling_of(recipe: FloorsRecipe, test: Sequence[Example]) -> CeilingScore:
    """Return the ceiling of a dataset: a published score of annotators, what the ratings of its test examples
    give, or 100."""
    known = AGREEMENT.get((recipe.name, recipe.metric))
    if known:
        return known
    ratings = [one.ratings for one in test if isinstance(one, RegressionExample)]
    if recipe.metric != "pearson" or not ratings or not all(map(len, ratings)):
        return CeilingScore()
    agreement = annotators_correlation(ratings)
    if agreement is None:
        return CeilingScore()
    source = "the mean correlation of an annotator with the mean of the others"
    return CeilingScore(score=100 * agreement, source=source)


def annotators_correlation(ratings: Sequence[Sequence[float]]) -> float | None:
    """Return the mean over annotators of the correlation of their scores with the mean of the others'; None
    if it is not defined for one, or if the numbers of scores differ."""
    if len(set(map(len, ratings))) != 1 or len(ratings[0]) < 2:
        return None
    correlations = []
    for annotator in range(len(ratings[0])):
        own = [scores[annotator] for scores in ratings]
        others = [fmean([*scores[:annotator], *scores[annotator + 1 :]]) for scores in ratings]
        correlations.append(score_correlation(others, own).metrics.get("pearson"))
    return None if None in correlations else fmean(one for one in correlations if one is not None)
