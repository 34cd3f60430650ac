"""Recipes that no program may accept: sound ones damaged in a value, in a key, or in their text."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.recipes import FinetuningRecipe, read
from pubmill.recipes.corpora import EvaluatedDataset, FingerprintRecipe, IndexRecipe, SelectionRecipe
from pubmill.recipes.datasets import ConversionRecipe, PublishedFile, PublishedRecipe
from pubmill.recipes.finetuning import Dummies
from pubmill.recipes.models import ExportRecipe, PretrainedWeights, TrainingStart
from pubmill.recipes.objectives import Objective
from pubmill.recipes.pretraining import Architecture, Optimisation, PretrainingRecipe
from pubmill.recipes.reading import as_json
from pubmill.recipes.report import ReportRecipe
from tests.attack import attack
from tests.damage import damage
from tests.world.dice import Dice

PRETRAINING = PretrainingRecipe(
    architecture=Architecture(
        family="bert", layers=2, hidden_size=16, attention_heads=2, intermediate_size=32
    ),
    objective=Objective(masking="whole-word"), optimisation=Optimisation(learning_rate=1e-3),
    sequence_length=64, batch_size=8, steps=10,
)  # fmt: skip
DUMMIES = Dummies(types={"GENE": "@GENE$"}, overlap="@{}-{}$")
SOUND = (
    PRETRAINING,
    FinetuningRecipe(
        task="sequence", metric="micro_f1", dummies=DUMMIES, learning_rate=1e-5, batch_size=8, epochs=3
    ),
    ExportRecipe(
        model="m", lowercase=True, pretraining=PRETRAINING,
        weights=PretrainedWeights(recipe="r", step=5, start=TrainingStart(recipe="s", step=2)),
    ),
    FingerprintRecipe(selection=SelectionRecipe(min_words=5, languages=("eng",)), similar=True),
    IndexRecipe(datasets=(EvaluatedDataset(dataset="d", splits=("dev", "test"), pmids=False),)),
    ConversionRecipe(
        dataset="d", kind="tokens", access="public", splits=("train",), converter="c", options={"a": [1]},
        expect={"train": {"sentences": 3}}, metric="entity_f1", version=1,
    ),
    PublishedRecipe(
        dataset="d", kind="sequence", access="public", writer="w", options={}, dummies=DUMMIES,
        files={"train": PublishedFile(name="train.tsv", sha256="0" * 64)},
    ),
    ReportRecipe(
        study="s", title="t", scale="small", scale_title="t", comparable=False, tables=("a",), fact_tables=(),
        pretraining={"r": ("a", "b")}, corpora=(), vocabs=(), models=("m",), datasets=(), sources=("f/a",),
    ),
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**70, 0.5, 1e308, "", "a", "\x1b[2J", "\ud800", [], [[]], {}, [None],
    {"a": None}, {"kind": "hub"}, ["a", 1], {"": 0},
)  # fmt: skip


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every container in a JSON value, with each of its keys or indices."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in items for place in ((value, key), *_places(inner))]


def _damaged(values: Any, dice: Dice) -> Any:
    values = deepcopy(values)
    places = _places(values)
    if not places:
        return dice.pick(VALUES)
    container, key = dice.pick(places)
    action = dice.below(4)
    if action == 0 and isinstance(container, dict):
        del container[key]
    elif action == 1 and isinstance(container, dict):
        name = dice.pick(["", "kind", "recipe", "__class__", f"{key} ", str(key).upper()])
        container[name] = dice.pick(VALUES)
    else:
        container[key] = dice.pick(VALUES)
    return values


def _text(sound: Any, dice: Dice) -> str:
    text = as_json(sound)
    if dice.chance(0.3):
        return (damage(text.encode(), dice).content or b"").decode(errors="surrogateescape")
    values = json.loads(text)
    for _ in range(dice.between(1, 3)):
        values = _damaged(values, dice)
    return json.dumps(values)


@attack("recipes", cases=20_000, quick=200)
def case(dice: Dice, folder: Path) -> str:
    """A recipe with values, keys or text damaged: refused in one message, or sound and the same when written
    and read again."""
    sound = dice.pick(SOUND)
    text = _text(sound, dice)
    argument = text
    if dice.chance(0.2):
        path = folder / "recipe.json"
        path.write_text(text, errors="surrogateescape")
        argument = str(path)
    try:
        made = read(type(sound), argument)
    except PubmillError as error:
        named = str(error).startswith(("--recipe", str(folder)))
        return "" if named and "Traceback" not in str(error) else f"reported: {error}"
    return "" if read(type(sound), as_json(made)) == made else f"not the same when read again: {text}"
