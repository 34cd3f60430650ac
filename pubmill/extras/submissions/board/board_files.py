"""The files of a board: what it compares, and a folder for each submission.

`board.yaml` has a `BoardSpec`; `submissions/NAME/card.yaml` has a `CardSpec`, and beside it are predictions,
`DATASET.EXT` or `seed-N/DATASET.EXT`.
"""

from collections.abc import Collection, Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

from pydantic import Field, ValidationError

from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.recipes.submissions import System
from pubmill.specs import strict_yaml
from pubmill.specs.spec_types import Name, Strict, dotted_key, problem_text
from pubmill.storage import name_patterns as names
from pubmill.storage.files import sha256
from pubmill.storage.submission_files import other_files, submission_files

BOARD = "board.yaml"
CARD = "card.yaml"
SUBMISSIONS = "submissions"
NAME = "[a-z0-9][a-z0-9-]{0,49}"
"""The name of a submission, that of its folder."""
LARGEST_CARD = 50_000
"""Bytes of a card."""

Line = Annotated[str, Field(min_length=1, max_length=80)]
Some = TypeVar("Some", bound=Strict)


class BoardSpec(Strict):
    """What a board compares.

    - `title`: the heading of its page.
    - `datasets`: names of specs; each is a column.
    """

    title: Annotated[str, Field(min_length=1, max_length=200)]
    datasets: Annotated[tuple[Name, ...], Field(min_length=1)]


class StatedCost(Strict):
    """What a system costs, as its author states it.

    - `parameters`: their number.
    - `prompt_tokens`, `answer_tokens`: of all predictions, as a language model's server counts them.
    - `gpu_hours`: to train and to predict.
    - `price`: with its currency, such as `12.40 USD`.
    """

    parameters: Annotated[int, Field(gt=0)] | None = None
    prompt_tokens: Annotated[int, Field(ge=0)] | None = None
    answer_tokens: Annotated[int, Field(ge=0)] | None = None
    gpu_hours: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    price: Line | None = None


class CardSpec(Strict):
    """The author's statement about a submission.

    - `label`: its name on the board.
    - `submitted`: the day.
    - `system`: what predicted, as for `pubmill score`.
    - `mapping`: dataset -> answer, label or type of the system -> label of the dataset.
    - `cost`: what it costs.
    """

    label: Line
    submitted: date
    system: System
    mapping: dict[Name, dict[str, str]] = Field(default_factory=dict)
    cost: StatedCost = StatedCost()


class Entry(NamedTuple):
    """A submission: `files` is dataset -> seed -> file of predictions."""

    name: str
    card: CardSpec
    files: dict[str, dict[int, Path]]

    @property
    def content(self) -> dict[str, str]:
        """The SHA-256 of each file, by dataset and seed."""
        return {
            f"{dataset}, seed {seed}": sha256(path)
            for dataset, seeds in self.files.items()
            for seed, path in seeds.items()
        }


def read_board(folder: Path, datasets: Collection[str]) -> BoardSpec:
    """Read what a board compares; `datasets`: the names of specs."""
    spec = _read(BoardSpec, folder / BOARD)
    if strangers := [unknown("dataset", one, datasets) for one in spec.datasets if one not in datasets]:
        raise PubmillError(f"{folder / BOARD}: {'; '.join(strangers)}")
    if len(set(spec.datasets)) < len(spec.datasets):
        raise PubmillError(f"{folder / BOARD}: `datasets` names one twice")
    return spec


def read_entries(folder: Path, spec: BoardSpec) -> tuple[list[Entry], dict[str, str]]:
    """Read the submissions of a board without their predictions; return these and, by name, why others are
    refused."""
    place = folder / SUBMISSIONS
    entries, refused = list[Entry](), dict[str, str]()
    for path in sorted(path for path in place.iterdir() if path.is_dir()) if place.is_dir() else ():
        try:
            entry = read_entry(path, spec)
            if entry.card.label in {one.card.label for one in entries}:
                raise PubmillError(f"{path / CARD}: another submission has the label {entry.card.label}")
            entries.append(entry)
        except PubmillError as error:
            refused[path.name] = str(error)
    return entries, refused


def read_entry(folder: Path, spec: BoardSpec) -> Entry:
    """Read a submission without its predictions; a `PubmillError` says what is wrong with it."""
    if not names.fits(NAME, folder.name):
        raise PubmillError(
            f"{folder}: expected a name of lower-case letters, digits and -, at most 50, the first no -"
        )
    if strange := list(_strange_files(folder)):
        raise PubmillError("; ".join(strange))
    card = _read(CardSpec, folder / CARD)
    files = submission_files(folder, spec.datasets)
    if strange := [f"{path} is named after no dataset of the board" for path in _others(folder, spec)]:
        raise PubmillError(f"{'; '.join(strange)}. Its datasets: {', '.join(spec.datasets)}")
    if not files:
        raise PubmillError(f"{folder}: no file is named DATASET.EXT after a dataset of the board")
    if strange := [one for one in card.mapping if one not in files]:
        raise PubmillError(f"{folder / CARD}: `mapping` names {', '.join(strange)}, which has no predictions")
    return Entry(folder.name, card, files)


def _strange_files(folder: Path) -> Iterator[str]:
    """Yield faults: a link could lead to any file of the machine, a device may never end."""
    for path in [folder, *sorted(folder.rglob("*"))]:
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            yield f"{path}: expected a file or a folder, not a link or a device"
    if (folder / CARD).is_file() and (folder / CARD).stat().st_size > LARGEST_CARD:
        yield f"{folder / CARD}: larger than {LARGEST_CARD:,} bytes"


def _others(folder: Path, spec: BoardSpec) -> list[Path]:
    return [path for path in other_files(folder, spec.datasets) if path.name != CARD]


def _read(kind: type[Some], path: Path) -> Some:
    if not path.is_file():
        raise PubmillError(f"{path}: there is no such file")
    faults: list[str] = []
    document = strict_yaml.read(path, str(path), faults)
    if not faults:
        try:
            return kind.model_validate(document.value)
        except ValidationError as error:
            faults = [
                f"{document.where(place)}: {dotted_key(place)}: {problem_text(problem, kind)}"
                for problem in error.errors()
                for place in (problem["loc"],)
            ]
    raise PubmillError("\n".join(faults))
