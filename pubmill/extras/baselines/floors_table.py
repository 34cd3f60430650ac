"""The table of floors and headroom, as text, Markdown and JSON."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from pubmill.extras.baselines.headroom import DatasetHeadroom
from pubmill.extras.baselines.measured import MeasuredFloor
from pubmill.tables.row_floors import FULL

HEADINGS = (
    "Dataset", "Metric", "Floor", "Score", "Ceiling", "Best published", "Share of room", "Published below",
)  # fmt: skip
NUMBERS = frozenset({3, 4, 6, 7})
"""Columns of numbers."""


def to_json(headrooms: Sequence[DatasetHeadroom]) -> str:
    """Return the floors as JSON."""
    return json.dumps(list(map(_values, headrooms)), indent=2, ensure_ascii=False) + "\n"


def _values(one: DatasetHeadroom) -> dict[str, object]:
    best = one.best
    return {
        "dataset": one.dataset,
        "metric": one.metric,
        "floors": {floor.floor: floor.score for floor in one.floors},
        "definitions": {floor.floor: floor.definition for floor in one.floors},
        "highest": one.highest and one.highest.floor,
        "labels_given_away": [floor.floor for floor in one.floors if floor.gives_labels_away],
        "ceiling": one.ceiling.model_dump(),
        "best_published": best and best._asdict(),
        "share_of_room": best and one.share(best.value),
        "published_scores": len(one.published),
        "published_below_floor": one.below,
    }


def to_markdown(headrooms: Sequence[DatasetHeadroom]) -> str:
    """Return the table as Markdown, one line per floor."""
    align = "|".join(" --: " if number in NUMBERS else " :-- " for number in range(len(HEADINGS)))
    lines = [f"| {' | '.join(HEADINGS)} |", f"|{align}|"]
    lines += [f"| {' | '.join(cells)} |" for cells in _rows(headrooms)]
    return "\n".join([*lines, *("\n" + one for one in _remarks(headrooms))]) + "\n"


def to_text(headrooms: Sequence[DatasetHeadroom]) -> str:
    """Return the table as aligned text, one line per floor."""
    rows = [HEADINGS, *_rows(headrooms)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if number in NUMBERS else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
        for cells in rows
    ]
    return "\n".join([*lines, *_remarks(headrooms)]) + "\n"


BASELINE_RENDERERS: Mapping[str, Callable[[Sequence[DatasetHeadroom]], str]] = {
    "text": to_text,
    "md": to_markdown,
    "json": to_json,
}


def _rows(headrooms: Sequence[DatasetHeadroom]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each floor; those of a dataset from the highest to the lowest."""
    for one in headrooms:
        for number, floor in enumerate(sorted(one.floors, key=_descending)):
            about = _about(one) if number == 0 else ("",) * 4
            names = (one.dataset, one.metric) if number == 0 else ("", "")
            yield (*names, floor.floor, _percent(floor.score), *about)


def _descending(floor: MeasuredFloor) -> float:
    return 2.0 if floor.score is None else -floor.score


def _about(one: DatasetHeadroom) -> tuple[str, str, str, str]:
    """Return ceiling, best published score, its share of the room, and the number of scores below."""
    best, ceiling = one.best, f"{one.ceiling.score:.1f}"
    if best is None:
        return ceiling, "", "", ""
    share = one.share(best.value)
    shown = "" if share is None else f"{100 * share:.0f} %"
    return ceiling, f"{best.value:.2f} ({best.table})", shown, f"{one.below} of {len(one.published)}"


def _percent(score: float | None) -> str:
    return "not defined" if score is None else f"{100 * score:.1f}"


def _remarks(headrooms: Sequence[DatasetHeadroom]) -> Iterator[str]:
    """Yield what the table cannot show: floors that give labels away, and where ceilings are from."""
    for one in headrooms:
        for floor in one.floors:
            if floor.gives_labels_away:
                yield (
                    f"{one.dataset}: {floor.floor} scores {_percent(floor.score)}. What it reads gives the "
                    f"labels away: {floor.definition}."
                )
        if one.ceiling.score != FULL:
            yield f"{one.dataset}: the ceiling is {one.ceiling.source}."
