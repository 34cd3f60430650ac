"""The history of a board: a line for each submission that came, changed or was withdrawn."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pubmill.extras.submissions.board.board_files import Entry
from pubmill.recipes.reading import build
from pubmill.storage.files import writing

HISTORY = "history.jsonl"
WITHDRAWN = "withdrawn"


@dataclass(frozen=True, kw_only=True)
class Event:
    """What became of a submission on a day.

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
    return [build(Event, json.loads(line), f"{path}:{number}") for number, line in enumerate(lines, 1)]


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
        content = entry.content
        before = last.get(entry.name)
        if before is None or before.content != content:
            event = "added" if before is None else "changed"
            yield Event(
                day=day,
                submission=entry.name,
                event=event,
                content=content,
                scores=dict(scores.get(entry.name, {})),
            )
    for name in sorted(last.keys() - {entry.name for entry in entries}):
        yield Event(day=day, submission=name, event=WITHDRAWN, content={}, scores={})


def write_history(folder: Path, events: Sequence[Event]) -> None:
    """Write the whole history of a board."""
    with writing(folder / HISTORY) as temporary:
        lines = (json.dumps(asdict(one), sort_keys=True) + "\n" for one in events)
        temporary.write_text("".join(lines), encoding="utf-8")
