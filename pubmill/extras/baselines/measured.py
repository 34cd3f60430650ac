"""Floors of converted datasets: their predictions, written like those of a run, and their scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, Example, SpanExample, Split, read_examples
from pubmill.extras.baselines.counted_floors import COUNTED
from pubmill.extras.baselines.floor import Floor, FloorsRecipe
from pubmill.extras.baselines.text_floors import TEXTS
from pubmill.metrics import SCORERS
from pubmill.metrics.contributions import Scored
from pubmill.specs import DatasetSpec
from pubmill.storage.files import sealed, sha256, write_json, write_jsonl_gz
from pubmill.storage.result_paths import PREDICTIONS, RECORD

Data = DatasetSpec | FloorsRecipe
Examples = Mapping[Split, Sequence[Example]]
FLOORS: tuple[Floor, ...] = (*COUNTED, *TEXTS)
GIVEN_AWAY = 0.99
"""Lowest score of a floor that shows a leak: the part of the input that the floor reads gives the labels."""


class MeasuredFloor(NamedTuple):
    """The scores of a floor on a split, as fractions. `score`: by the dataset's main metric, None if that is
    not defined for the predictions."""

    dataset: str
    floor: str
    definition: str
    split: Split
    metric: str
    score: float | None
    metrics: dict[str, float]
    counts: dict[str, int]
    data_sha256: str
    known_sha256: dict[str, str]

    @property
    def gives_labels_away(self) -> bool:
        return self.score is not None and self.score >= GIVEN_AWAY


def floors_of(kind: str, task: str) -> list[Floor]:
    return [one for one in FLOORS if one.kind == kind and (one.tasks is None or task in one.tasks)]


def measure_floors(data: Data, files: Mapping[str, Path], output: Path) -> list[MeasuredFloor]:
    """Predict test by each floor that applies; write predictions and scores into a folder. `files`: split ->
    file of its examples. The same examples give the same bytes."""
    floors = floors_of(data.kind, data.task)
    examples: Examples = {
        name: list(read_examples(files[name], KINDS[data.kind]))
        for name in dict.fromkeys(("test", *(one for floor in floors for one in floor.splits)))
        if name in files
    }
    if not examples.get("test") or not examples.get("train"):
        raise PubmillError(f"{data.name} needs examples in train and test; convert it again")
    return list(filter(None, (_measure(data, floor, examples, files, output) for floor in floors)))


def _measure(
    data: Data, floor: Floor, examples: Examples, files: Mapping[str, Path], output: Path
) -> MeasuredFloor | None:
    """Predict and score by one floor; None if it does not apply to the examples."""
    splits, test = [name for name in floor.splits if name in examples], examples["test"]
    known = [example for name in splits for example in examples[name]]
    predicted = floor.predict(known, test, data.negative)
    if predicted is None:
        return None
    scored: Scored = SCORERS[data.kind](test, predicted, data.negative)
    record = MeasuredFloor(
        dataset=data.name,
        floor=floor.name,
        definition=floor.definition,
        split="test",
        metric=data.metric,
        score=scored.metrics.get(data.metric),
        metrics=scored.metrics,
        counts=scored.counts,
        data_sha256=sha256(files["test"]),
        known_sha256={name: sha256(files[name]) for name in splits},
    )
    rows = [row(*both) for both in zip(test, predicted, strict=True)]
    write_jsonl_gz(output / f"{floor.name}{PREDICTIONS}", rows, private=data.access != "public")
    write_json(output / f"{floor.name}{RECORD}", sealed(record._asdict()))
    return record


def row(example: Example, prediction: Any) -> dict[str, object]:
    """Return a line of a file of predictions."""
    if isinstance(example, SpanExample):
        prediction = [{"text": text, "probability": probability} for text, probability in prediction]
    key = next(name for name in ("labels", "label", "score", "answers") if hasattr(example, name))
    return {"id": example.id, key: prediction}
