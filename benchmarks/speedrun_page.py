"""Tables and figures of docs/speedrun.md, made from the records: no number without its record."""

import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from benchmarks.speedrun_rules import (
    FOLDER,
    SpeedRecord,
    SpeedRun,
    compared,
    outcome_of,
    p_value,
    read_records,
)
from pubmill.errors import PubmillError
from pubmill.statistics.resampling import holm
from pubmill.storage.files import read_json

ROOT = Path(__file__).resolve().parents[1]
PAGE, IMAGES = ROOT / "docs/speedrun.md", ROOT / "docs/images"
Records = Mapping[tuple[str, str], SpeedRecord]
LADDER, CURVES = "5-minutes", "15-minutes"
COLOURS = ("#0d7d74", "#b3541e", "#555555")
HEADINGS = {
    "search": "| searched | division | seeds | loss | tokens | machine |",
    "ladder": "| record | division | seeds | loss | against | difference | p | found | tokens | operations |",
    "repeats": "| record | seed | loss of the record | loss here | processor s "
    "| 1e9 operations/s | machine |",
    "tasks": "| model | HoC | ChemProt | BC2GM | NCBI-disease |",
    "differences": "| task | combined | baseline | difference | p | adjusted p |",
}
DATASETS = {
    "hoc@blurb": "HoC",
    "chemprot@blurb": "ChemProt",
    "bc2gm": "BC2GM",
    "ncbi-disease": "NCBI-disease",
}
Scores = Mapping[str, Mapping[str, list[float]]]
"""Place of a model -> dataset -> scores of its seeds, in per cent."""


def search_table(records: Records) -> str:
    """Return the runs of the search and the trials of the ladder, by division and loss."""
    some = [record for record in records.values() if record.against is None and record.name != "baseline"]
    rows = sorted(some, key=lambda record: (record.division, record.mean("loss")))
    lines = [
        f"| {record.name.removeprefix('search.')} | {record.division} | {len(record.runs)} "
        f"| {_loss(record)} | {record.mean('tokens'):,.0f} | {_machine(record.runs[0])} |"
        for record in rows
    ]
    return _table("search", lines)


def _machine(run: SpeedRun) -> str:
    name: str = [*run.machine.get("gpus", []), run.machine.get("cpu", "")][0]
    return name.removeprefix("NVIDIA ")


def ladder_table(records: Records) -> str:
    """Return the baselines, and every record that is compared with another, by division and loss."""
    some = [record for record in records.values() if record.against or record.name == "baseline"]
    rows = sorted(some, key=lambda record: (record.division, record.mean("loss")))
    return _table("ladder", (_ladder_row(record, compared(record, records)) for record in rows))


def _ladder_row(record: SpeedRecord, before: SpeedRecord | None) -> str:
    against, difference, p, outcome = "", "", "", ""
    if before:
        outcome, value = outcome_of(record, before)
        against = before.name if before.division == record.division else f"{before.name}, {before.division}"
        difference = _signed(record.mean("loss") - before.mean("loss"), 3)
        p = "" if value is None else f"{value:.1g}" if value >= 1e-4 else "< 0.0001"
    return (
        f"| {record.name} | {record.division} | {len(record.runs)} | {_loss(record)} | {against} "
        f"| {difference} | {p} | {outcome} | {record.mean('tokens'):,.0f} | {record.mean('operations'):.3g} |"
    )


def repeats_table(records: Records, repeats: Records) -> str:
    """Return the runs that were made again on another machine."""
    lines = list[str]()
    for place, repeat in sorted(repeats.items()):
        for run in repeat.runs:
            rate = run.operations / run.processor_seconds / 1e9
            before = ", ".join(f"{one.loss:.3f}" for one in records[place].runs if one.seed == run.seed)
            lines.append(
                f"| {repeat.name}, {repeat.division} | {run.seed} | {before} | {run.loss:.3f} "
                f"| {run.processor_seconds:,.0f} | {rate:.0f} | {_machine(run)} |"
            )
    return _table("repeats", lines)


def by_model(scores: Iterable[Mapping[str, Any]]) -> Scores:
    """Return the scores on test in per cent; runs that failed have none."""
    models: dict[str, dict[str, list[float]]] = {}
    for one in scores:
        if one["score"] is not None:
            models.setdefault(one["place"], {}).setdefault(one["dataset"], []).append(100 * one["score"])
    return models


def tasks_table(scores: Scores) -> str:
    """Return the mean score on test of each model and dataset, its standard deviation and the seeds."""
    return _table(
        "tasks",
        (
            f"| {', '.join(reversed(place.split('/')))} "
            + "".join(f"| {_mean(scores[place].get(dataset, []))} " for dataset in DATASETS)
            + "|"
            for place in sorted(scores, key=lambda place: (place.count("/"), place))
        ),
    )


def _mean(values: list[float]) -> str:
    spread = f" ± {stdev(values):.1f}" if len(values) > 1 else ""
    return f"{fmean(values):.1f}{spread} ({len(values)})" if values else ""


def differences_table(scores: Scores, division: str) -> str:
    """Return the differences between combined recipe and baseline, with two-sided p values of Student's test
    with one variance, adjusted by Holm for the number of tasks."""
    pairs = [
        (scores[f"{division}/combined"][dataset], scores[f"{division}/baseline"][dataset])
        for dataset in DATASETS
    ]
    sides = [p_value(before, ours) for ours, before in pairs]
    p = [1.0 if side is None else 2 * min(side, 1 - side) for side in sides]
    return _table(
        "differences",
        (
            f"| {name} | {_mean(ours)} | {_mean(before)} | {_signed(fmean(ours) - fmean(before), 1)} "
            f"| {value:.2g} | {adjusted:.2g} |"
            for name, (ours, before), value, adjusted in zip(
                DATASETS.values(), pairs, p, holm(p), strict=True
            )
        ),
    )


def _signed(difference: float, digits: int) -> str:
    return f"{difference:+.{digits}f}".replace("-", "−")


def _loss(record: SpeedRecord) -> str:
    spread = f" ± {stdev(record.losses):.3f}" if len(record.runs) > 1 else ""
    return f"{record.mean('loss'):.3f}{spread}"


def _table(kind: str, lines: Iterable[str]) -> str:
    heading = HEADINGS[kind]
    return "\n".join([heading, re.sub(r"[^|]+", "---", heading.strip()), *lines]) + "\n"


def ladder_figure(records: Records) -> str:
    """Return the ladder as SVG: the loss of every seed, the records ordered by their mean."""
    some = [
        record
        for record in records.values()
        if record.division == LADDER and (record.against or record.name == "baseline")
    ]
    rows = sorted(some, key=lambda record: record.mean("loss"))
    losses = [loss for record in rows for loss in record.losses] or [0.0, 1.0]
    low, high = min(losses), max(losses)
    scale = 480 / ((high - low) or 1.0)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {40 + 22 * len(rows)}" '
        'font-family="sans-serif" font-size="12" role="img">',
        f"<title>Held-out loss of each rung of the ladder ({LADDER})</title>",
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for number, record in enumerate(rows):
        y, colour = 22 + 22 * number, "#0d7d74" if record.name == "baseline" else "#555"
        lines += [
            f'<text x="170" y="{y + 4}" text-anchor="end" fill="{colour}">{escape(record.name)}</text>',
            f'<line x1="180" x2="670" y1="{y}" y2="{y}" stroke="#ddd"/>',
        ]
        places = [185 + (loss - low) * scale for loss in record.losses]
        lines += [f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="{colour}" opacity="0.7"/>' for x in places]
    y = 32 + 22 * len(rows)
    lines.append(f'<text x="180" y="{y}">{low:.3f}</text>')
    lines.append(f'<text x="670" y="{y}" text-anchor="end">{high:.3f} nats a masked token</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def curves_figure(records: Records) -> str:
    """Return the training loss of the first seeds by operations as SVG."""
    found = {name: records[CURVES, name].runs[0].curve for name in ("combined", "baseline", "start")
             if (CURVES, name) in records}  # fmt: skip
    points = [point for curve in found.values() for point in curve] or [[1.0, 1.0]]
    right, low, high = max(x for x, _ in points), min(y for _, y in points), max(y for _, y in points)
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 330" font-family="sans-serif" '
        'font-size="12" role="img">',
        f"<title>Training loss of three recipes by operations ({CURVES})</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        '<path d="M50 10V290H610" fill="none" stroke="#999"/>',
    ]
    for (name, curve), colour in zip(found.items(), COLOURS, strict=False):
        places = [(50 + 560 * x / right, 290 - 270 * (y - low) / (high - low or 1.0)) for x, y in curve]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines.append(f'<text x="616" y="{places[-1][1] + 4:.0f}" fill="{colour}">{name}</text>')
    lines += [
        f'<text x="44" y="20" text-anchor="end">{high:.1f}</text>',
        f'<text x="44" y="290" text-anchor="end">{low:.1f}</text>',
        f'<text x="610" y="308" text-anchor="end">{right:.2g} operations</text>',
        '<text x="56" y="322">training loss, nats a masked token</text>',
    ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def page_with(text: str, tables: Mapping[str, str]) -> str:
    """Return the page with its tables."""
    for kind, made in tables.items():
        pattern = re.escape(HEADINGS[kind]) + r"\n(?:\|.*\n)+"
        if not re.search(pattern, text):
            raise PubmillError(f"{PAGE}: it lacks the table that begins with {HEADINGS[kind]}")
        text = re.sub(pattern, made.replace("\\", r"\\"), text)
    return text


def records_page(written: str) -> str:
    """Return the page of all records: the ladder, the search and the repeats. `written`: what writes it."""
    records = read_records()
    parts = [
        "# Records of the speedrun",
        written.strip(),
        "Means of the seeds; [the speedrun](../speedrun.md) has the rules.",
        "## The ladder",
        ladder_table(records),
        "## The search",
        search_table(records),
        "## Runs made again on another machine",
        repeats_table(records, read_records(repeats=True)),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def check_page(write: bool) -> None:
    """Compare page and figures with the records, or write them."""
    records, scores = read_records(), by_model(read_json(FOLDER / "tasks.json")["scores"])
    tables = {"tasks": tasks_table(scores), "differences": differences_table(scores, CURVES)}
    for path, made in (
        (PAGE, page_with(PAGE.read_text(encoding="utf-8"), tables)),
        (IMAGES / "speedrun.svg", ladder_figure(records)),
        (IMAGES / "speedrun-curves.svg", curves_figure(records)),
    ):
        if write:
            path.write_text(made, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != made:
            raise PubmillError(f"{path} is not what the records say; run benchmarks/speedrun.py page --write")
