"""The files of a board: what it compares, a folder for each submission, and its history; those of a new one.

`board.yaml` has a `BoardSpec`; `submissions/NAME/card.yaml` has a `CardSpec`, and beside it are predictions,
`DATASET.EXT` or `seed-N/DATASET.EXT`; `history.jsonl` has an `Event` for each submission that came, changed
or was withdrawn.
"""

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import yaml
from pydantic import Field, ValidationError

from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.recipes.problems import dotted_key, problem_text
from pubmill.recipes.reading import build
from pubmill.recipes.recipe_types import Name, StrictRecipe
from pubmill.recipes.submissions import System
from pubmill.specs import strict_yaml
from pubmill.specs.spec_types import Strict
from pubmill.storage import name_patterns as names
from pubmill.storage.files import sha256, writing
from pubmill.storage.result_paths import CARD as DATASET_CARD
from pubmill.storage.result_paths import paths_of_scale
from pubmill.storage.submission_files import other_files, submission_files

BOARD = "board.yaml"
CARD = "card.yaml"
SUBMISSIONS = "submissions"
HISTORY = "history.jsonl"
WITHDRAWN = "withdrawn"
NAME = "[a-z0-9][a-z0-9-]{0,49}"
"""The name of a submission, that of its folder."""
LARGEST_CARD = 50_000
"""Bytes of a card."""
README = """\
# {title}

The site is made by pubmill from the files here: `pubmill board FOLDER`.

To submit, add a folder `submissions/NAME` with

- `DATASET.EXT`, the predictions for the test split of a dataset, or `seed-1/DATASET.EXT` and so on for
  several runs. Datasets: {datasets}
- `card.yaml`:

```yaml
label: My system                # its name on the board
submitted: {day}
system:
  name: group/my-system
  version: "1.0"
  url: https://example.org/my-system     # or prompt:, or both
  local: false                           # whether it ran on a machine of your own
cost: {{parameters: 110000000}}          # also prompt_tokens, answer_tokens, gpu_hours, price
```

A pull request is checked by `.github/workflows/board.yml`; its last lines say what is refused, and why.
"""
WORKFLOW = """\
# Checks the submissions of a pull request, and makes the site of the main branch.
# The repository variable PUBMILL is what pip installs: the address of pubmill's wheel.
name: board
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  board:
    runs-on: ubuntu-24.04
    timeout-minutes: 60
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install "$PUBMILL"
        env:
          PUBMILL: ${{{{ vars.PUBMILL }}}}
      - name: Convert the datasets; the test labels stay on this machine
        run: |
          pubmill init ../work
          cd ../work
          pubmill run gu2020 {cards}
      - name: Score
        run: |
          cd ../work
          pubmill board "$GITHUB_WORKSPACE" --results results/full $CHECK
        env:
          CHECK: ${{{{ github.event_name == 'pull_request' && '--check' || '' }}}}
      - if: github.event_name == 'push'
        uses: actions/upload-pages-artifact@v3
        with:
          path: site
      - if: github.event_name == 'push'
        uses: actions/upload-artifact@v4
        with:
          name: history
          path: history.jsonl
  history:
    if: github.event_name == 'push'
    needs: board
    permissions:
      contents: write
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v4
      - uses: actions/download-artifact@v4
        with:
          name: history
      - name: Keep the history; nothing is run again for it
        run: |
          git add history.jsonl
          git diff --cached --quiet && exit 0
          git config user.name board
          git config user.email board@users.noreply.github.com
          git commit -m "History of the board [skip ci]"
          git push
  deploy:
    if: github.event_name == 'push'
    needs: board
    permissions:
      pages: write
      id-token: write
    environment:
      name: github-pages
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/deploy-pages@v4
"""

Line = Annotated[str, Field(min_length=1, max_length=80)]
Some = TypeVar("Some", bound=Strict)


class BoardSpec(Strict):
    """Definition of a board.

    - `title`: the heading of its page.
    - `datasets`: names of specs; each is a column.
    """

    title: Annotated[str, Field(min_length=1, max_length=200)]
    datasets: Annotated[tuple[Name, ...], Field(min_length=1)]


class StatedCost(Strict):
    """Costs of a system, as its author states them.

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
    - `mapping`: dataset -> answer, label or type of the system -> label of the dataset; null leaves it out.
    - `cost`: what it costs.
    """

    label: Line
    submitted: date
    system: System
    mapping: dict[Name, dict[str, str | None]] = Field(default_factory=dict)
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
        raise PubmillError(f"{folder}: expected at most 50 lower-case letters, digits and -, the first no -")
    if strange := list(_strange_files(folder)):
        raise PubmillError("; ".join(strange))
    card = _read(CardSpec, folder / CARD)
    files = submission_files(folder, spec.datasets)
    others = [path for path in other_files(folder, spec.datasets) if path.name != CARD]
    if strange := [f"{path} is named after no dataset of the board" for path in others]:
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
                f"{document.where(one['loc'])}: {dotted_key(one['loc'])}: {problem_text(one, kind)}"
                for one in error.errors()
            ]
    raise PubmillError("\n".join(faults))


class Event(StrictRecipe):
    """An entry in the history of a board: a submission that came, changed or was withdrawn.

    - `content`: the SHA-256 of its files, by dataset and seed.
    - `scores`: those of its datasets, in points.
    """

    day: str
    submission: str
    event: str
    content: dict[str, str]
    scores: dict[str, float]


def read_history(folder: Path) -> list[Event]:
    """Return the history of the board in a folder, the first event first; none of a new board."""
    path = folder / HISTORY
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    events = []
    for number, line in enumerate(lines, 1):
        try:
            events.append(build(Event, json.loads(line), f"{path}:{number}"))
        except json.JSONDecodeError as error:
            raise PubmillError(
                f"{path}:{number}: not valid JSON: {error.msg}; expected one event a line. Resolve the "
                f"conflict of a merge, or restore the file (`git checkout {HISTORY}`)"
            ) from None
    return events


def oldest_first(entries: Sequence[Entry], known: Sequence[Event]) -> list[Entry]:
    """Return the submissions in the order in which they came, new ones last, by name: a copy is thus refused
    and not the original."""
    first = {one.submission: -number for number, one in enumerate(reversed(known))}
    return sorted(entries, key=lambda entry: (first.get(entry.name, 1), entry.name))


def new_events(
    known: Sequence[Event], entries: Sequence[Entry], scores: Mapping[str, Mapping[str, float]], day: str
) -> Iterator[Event]:
    """Yield what changed since each submission's last event; `scores`: submission -> dataset -> score."""
    latest = {one.submission: one for one in known}
    last = {name: one for name, one in latest.items() if one.event != WITHDRAWN}
    for entry in entries:
        name, content, before = entry.name, entry.content, last.get(entry.name)
        if before is None or before.content != content:
            event, own = "changed" if before else "added", dict(scores.get(name, {}))
            yield Event(day=day, submission=name, event=event, content=content, scores=own)
    for name in sorted(last.keys() - {entry.name for entry in entries}):
        yield Event(day=day, submission=name, event=WITHDRAWN, content={}, scores={})


def write_history(folder: Path, events: Sequence[Event]) -> None:
    lines = (json.dumps(asdict(one), sort_keys=True) + "\n" for one in events)
    write_text(folder / HISTORY, "".join(lines))


def write_text(path: Path, text: str) -> None:
    with writing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_board(folder: Path, datasets: Sequence[str]) -> None:
    """Write the files of a new board; a `PubmillError` if it is one already."""
    if (folder / BOARD).exists():
        raise PubmillError(f"{folder / BOARD} exists; its datasets are changed there, not by --dataset")
    title, paths = folder.absolute().name, paths_of_scale("full", "results")
    board = yaml.safe_dump({"title": title, "datasets": list(datasets)}, sort_keys=False, allow_unicode=True)
    cards = " ".join(f"{paths.dataset(one)}/{DATASET_CARD}" for one in datasets)
    files = {
        "README.md": README.format(title=title, datasets=", ".join(datasets), day=time.strftime("%Y-%m-%d")),
        ".github/workflows/board.yml": WORKFLOW.format(cards=cards),
        ".gitignore": "/.board/\n/site/\n",
        BOARD: board,
    }
    (folder / SUBMISSIONS).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        if not (folder / name).exists():
            write_text(folder / name, text)
