"""Damage to any source file gives a clear error, never wrong examples.

Every dataset of the miniature world is converted again and again, each time with other random damage to
one of its files. What may come of it: an error that names the file, or examples that are sound, have the
expected counts and whose mentions and answers stand where they stood. The latter is what damage comes to
that no format can notice: within running text, or one valid label for another. At full scale not
even that gets through where a source has a sha256 or git blob, which is compared before it is read. Sources
without one (`unchecked`, or files of the user's own) have the counts alone, and the published form's hash
where it is known: damage that changes neither is not seen.

Each dataset has a few damages, and more of them weekly. `PUBMILL_DAMAGES=500` gives it so many weekly,
`PUBMILL_DAMAGE_SEED` other ones.
"""

import os
import re
import signal
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType

import pytest

from pubmill.convert.dataset import convert
from pubmill.errors import PubmillError
from pubmill.examples import kinds
from pubmill.recipes.datasets import ConversionRecipe
from pubmill.specs import Specs, load
from pubmill.stages.dataset_recipes import conversion_recipe
from tests.damage import Damaged, damage
from tests.dataset_specs import SPECS, inputs_of
from tests.world import dataset_files, dataset_names, punkt
from tests.world.dice import Dice
from tests.world.part import CANARY

DAMAGES = int(os.environ.get("PUBMILL_DAMAGES", "24"))
FEW = 6
MORE = (pytest.mark.long, pytest.mark.weekly)
SEED = int(os.environ.get("PUBMILL_DAMAGE_SEED", "1"))
PATIENCE = 60
"""Time limit in seconds for a conversion that takes fractions of a second; longer ones hang."""

PLACE = re.compile(
    r":\d+\b|\bline \d+|\bnumber \d+|\w\.\d+\.\w|\bquestion \S+|\d{8}|[0-9a-f]{24}|expected counts"
)
"""A line; what stands for it in files of one line, or JSON: a number, path or identifier; else the counts."""
Places = dict[tuple[object, ...], set[tuple[object, ...]]]


@cache
def specs() -> Specs:
    """At demo scale: some rows are cut from other places in the miniature files."""
    return load(SPECS.parent, "demo")


@dataclass(frozen=True)
class Dataset:
    """One dataset of the world: its recipe, its files and where its mentions and answers stand."""

    recipe: ConversionRecipe
    inputs: dict[str, Path]
    places: Places


@pytest.fixture(scope="session")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mirror")
    for path, content in {**dataset_files(), punkt.PATH: punkt.punkt_zip()}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def places(folder: Path, recipe: ConversionRecipe) -> Places:
    """Text -> where mentions, or this answer, or labelled words stand in it."""
    found: Places = {}
    for split in recipe.splits:
        for example in kinds.read_examples(folder / f"{split}.jsonl.gz", kinds.KINDS[recipe.kind]):
            for text, place in _places(example):
                found.setdefault(text, set()).add(place)
    return found


def _places(example: kinds.Example) -> Iterator[tuple[tuple[object, ...], tuple[object, ...]]]:
    match example:
        case kinds.SequenceExample():
            for entity in example.entities:
                yield (example.text,), (entity.start, entity.end)
        case kinds.SpanExample():
            for answer in example.answers:
                yield (example.context, answer.text), (answer.start,)
        case kinds.TokensExample():
            yield tuple(example.words), tuple(example.labels)


@contextmanager
def patience() -> Iterator[None]:
    def give_up(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"still at work after {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def fault(
    dataset: Dataset, inputs: Mapping[str, Path], damaged: Path, made: Damaged, output: Path
) -> str | None:
    """What is wrong with what comes of damaged files, if anything."""
    try:
        with patience():
            convert(dataset.recipe, inputs, output)
    except PubmillError as error:
        return fault_of_message(str(error), inputs, damaged, made, dataset.recipe)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}: {error}"
    # Column files give a label to a word by its line alone: two lines swapped are seen by none.
    labels_by_line = dataset.recipe.kind == "tokens" and not made.how.endswith(
        ("a digit changed", "a number changed")
    )
    found = {} if labels_by_line else places(output, dataset.recipe)
    moved = [text for text, at in found.items() if not at <= dataset.places.get(text, at)]
    return f"mentions, answers or labels moved: {moved[0]}" if moved else None


def fault_of_message(
    message: str, inputs: Mapping[str, Path], damaged: Path, made: Damaged, recipe: ConversionRecipe
) -> str | None:
    """If files contradict each other, either may be blamed, but the error names both."""
    if recipe.access != "public" and CANARY in message:
        return f"licensed text in the message: {message}"
    if "its message is withheld" in message:
        return f"an error that nobody foresaw: {message}"
    if damaged.name not in message:
        return f"{damaged.name} is not named: {message}"
    named = message.partition("\nRead together with")[0]
    for path in inputs.values():
        named = named.replace(f"{path.parent}/", "")  # folders have numbers that are no places
    if not any(path.name in named for path in inputs.values()):
        return f"no file is blamed: {message}"
    member = made.how.rpartition(": ")[0]
    if made.in_line and not PLACE.search(named) and (not member or member not in named):
        return f"no place within a file is named: {message}"
    return None


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", dataset_names())
@pytest.mark.parametrize("numbers", [range(FEW), pytest.param(range(FEW, DAMAGES), marks=MORE)])
def test_damage_is_reported_and_never_gives_wrong_examples(
    name: str, numbers: range, mirror: Path, tmp_path: Path
) -> None:
    recipe = conversion_recipe(name, specs().datasets[name])
    inputs, undamaged = inputs_of(name, mirror), tmp_path / "undamaged"
    convert(recipe, inputs, undamaged)
    dataset = Dataset(recipe, inputs, places(undamaged, recipe))
    faults = []
    for number in numbers:
        dice = Dice(1_000_003 * SEED + number)
        role = dice.pick(sorted(dataset.inputs))
        made = damage(dataset.inputs[role].read_bytes(), dice)
        damaged = tmp_path / role / dataset.inputs[role].name
        damaged.parent.mkdir(exist_ok=True)
        damaged.write_bytes(made.content)
        wrong = fault(dataset, {**dataset.inputs, role: damaged}, damaged, made, tmp_path / "output")
        if wrong:
            faults.append(f"{name}, damage {number}, {role}, {made.how}: {wrong}")
    assert not faults, "\n".join(faults)
