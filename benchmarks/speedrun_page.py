"""Tables and figure of docs/speedrun.md, made from the records: no number without its record."""

import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from statistics import stdev

from benchmarks.speedrun_rules import SpeedRecord, compared, read_records, verdict
from pubmill.errors import PubmillError

ROOT = Path(__file__).resolve().parents[1]
PAGE, FIGURE = ROOT / "docs/speedrun.md", ROOT / "docs/images/speedrun.svg"
Records = Mapping[tuple[str, str], SpeedRecord]
LADDER = "5-minutes"
HEADINGS = {
    "search": "| searched | division | seeds | loss | tokens | processor s |",
    "ladder": "| record | division | seeds | loss | against | difference | p | verdict | tokens | operations "
    "| processor s |",
}


def search_table(records: Records) -> str:
    """Return the runs of the search and the trials of the ladder, by division and loss."""
    some = [record for record in records.values() if record.against is None and record.name != "baseline"]
    rows = sorted(some, key=lambda record: (record.division, record.mean("loss")))
    lines = [
        f"| {record.name.removeprefix('search.')} | {record.division} | {len(record.runs)} "
        f"| {_loss(record)} | {record.mean('tokens'):,.0f} | {record.mean('processor_seconds'):,.0f} |"
        for record in rows
    ]
    return _table("search", lines)


def ladder_table(records: Records) -> str:
    """Return the baselines, and every record that is compared with another, by division and loss."""
    some = [record for record in records.values() if record.against or record.name == "baseline"]
    rows = sorted(some, key=lambda record: (record.division, record.mean("loss")))
    return _table("ladder", (_ladder_row(record, compared(record, records)) for record in rows))


def _ladder_row(record: SpeedRecord, before: SpeedRecord | None) -> str:
    against, difference, p, outcome = "", "", "", ""
    if before:
        outcome, value = verdict(record, before)
        against = before.name if before.division == record.division else f"{before.name}, {before.division}"
        difference = f"{record.mean('loss') - before.mean('loss'):+.3f}".replace("-", "−")
        p = "" if value is None else f"{value:.1g}" if value >= 1e-4 else "< 0.0001"
    return (
        f"| {record.name} | {record.division} | {len(record.runs)} | {_loss(record)} | {against} "
        f"| {difference} | {p} | {outcome} | {record.mean('tokens'):,.0f} | {record.mean('operations'):.3g} "
        f"| {record.mean('processor_seconds'):,.0f} |"
    )


def _loss(record: SpeedRecord) -> str:
    spread = f" ± {stdev(record.losses):.3f}" if len(record.runs) > 1 else ""
    return f"{record.mean('loss'):.3f}{spread}"


def _table(kind: str, lines: Iterable[str]) -> str:
    heading = HEADINGS[kind]
    return "\n".join([heading, re.sub(r"[^|]+", "---", heading.strip()), *lines]) + "\n"


def figure(records: Records) -> str:
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


def page_with(text: str, records: Records) -> str:
    """Return the page with the tables of the records."""
    for kind, made in (("search", search_table(records)), ("ladder", ladder_table(records))):
        pattern = re.escape(HEADINGS[kind]) + r"\n(?:\|.*\n)+"
        if not re.search(pattern, text):
            raise PubmillError(f"{PAGE}: it lacks the table that begins with {HEADINGS[kind]}")
        text = re.sub(pattern, made.replace("\\", r"\\"), text)
    return text


def check_page(write: bool) -> None:
    """Compare page and figure with the records, or write them."""
    records = read_records()
    for path, made in (
        (PAGE, page_with(PAGE.read_text(encoding="utf-8"), records)),
        (FIGURE, figure(records)),
    ):
        if write:
            path.write_text(made, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != made:
            raise PubmillError(f"{path} is not what the records say; run benchmarks/speedrun.py page --write")
