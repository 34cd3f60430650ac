"""Output of pubmill explain: one screen that answers first, or everything."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from textwrap import shorten
from typing import Any

from pydantic_core import to_jsonable_python
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from pubmill.inspection.explain.cell_explanations import CellRun, Explanation
from pubmill.inspection.explain.table_statements import ORDER, TableStatements, WeighedStatement
from pubmill.messages.terminal_tables import BAD, DIM, table
from pubmill.messages.wording import counted
from pubmill.metrics.collapse import CONSTANT
from pubmill.report.rendering import count, duration, number, signed

SHOWN_ONCE = ("commit", "python", "machine", "packages", "data_sha256", "model_sha256")
"""Facts that most runs of a cell share; each value is printed once for all runs that have it."""
FIRST = {"a cell": 7, "a table": 14}
"""Statements on the first screen."""
LONGEST_REASON = 120
"""Characters of why there is no value, which may name every seed of every fold."""


def to_json(explanation: Explanation | TableStatements) -> str:
    """Return the whole explanation as JSON, for other programs."""
    return json.dumps(asdict(explanation), indent=2, ensure_ascii=False, default=to_jsonable_python)


def print_explanation(to: Console, explanation: Explanation, whole: bool = False) -> None:
    """Print the cell and why it is as it is, then its inputs: a line each, or (`whole`) all that is known."""
    to.print(Text(f"{explanation.table}, {explanation.row}, {explanation.column}", style="bold"))
    to.print(Text(_first_line(explanation.value), style="bold"))
    value = explanation.value
    verdict, published = value.get("verdict"), value.get("published")
    lines = [verdict["why"]] if isinstance(verdict, Mapping) and verdict.get("why") else []
    if isinstance(published, Mapping) and published.get("note"):
        lines.append(f"the published value: {published['note']}")
    if value.get("reason") and value["value"] is not None:
        lines.append(value["reason"])
    for line in (*lines, *explanation.reasons):
        to.print(Text(line))
    if explanation.refused:
        to.print(Text(f"refused: {explanation.refused}", style=BAD))
    to.print(Text(f"scale: {explanation.scale}", style=DIM))
    if explanation.parts:
        _print_parts(to, explanation)
    if whole:
        if explanation.runs:
            _print_runs(to, explanation.runs)
        accounts: dict[str, Mapping[str, Any] | None] = {
            "Value": {name: one for name, one in explanation.value.items() if one not in (None, "", ())},
            "Protocol": explanation.setting,
            "Resolved recipe": explanation.recipe,
            "Search for hyper-parameters": explanation.search,
            **{f"Data {one['dataset']}": one for one in explanation.data},
            "Weights": explanation.weights,
        }
        for heading, account in accounts.items():
            if account:
                to.print(Text(f"\n{heading}", style="bold"))
                _print_account(to, account)
    else:
        for name, text in _summary(explanation):
            to.print(Padding(Text(f"{name}: {text}", overflow="fold"), (0, 0, 0, 2), expand=False))
    _print_statements(to, explanation.statements, "a cell", whole)
    if explanation.to_do:
        to.print(Text("\nHow to make what is missing", style="bold"))
        for command in explanation.to_do:
            to.print(f"  {command}", soft_wrap=True)


def print_statements(to: Console, shown: TableStatements, whole: bool = False) -> None:
    """Print the statements on a table's cells, those that matter most first."""
    to.print(Text(f"{shown.table}: {shown.title}", style="bold"))
    _print_statements(to, shown.statements, "a table", whole)
    notes = {"How its cells are made": shown.reasons, "What is known about its datasets": shown.conflicts}
    for heading, texts in notes.items():
        if texts and whole:
            to.print(Text(f"\n{heading}", style="bold"), *(Padding(Text(one), (0, 0, 0, 2)) for one in texts))
        elif texts:
            to.print(Text(f"{heading}: {counted(len(texts), 'note')} with --all", style=DIM))


def _print_statements(to: Console, statements: Sequence[WeighedStatement], on: str, whole: bool) -> None:
    """Print statements, except those of what is as printed: all of them, or the first ones in a line each."""
    if not statements:
        return
    counts = Counter(one.row.statement.standing for one in statements)
    numbers = ", ".join(f"{counts[standing]} {standing}" for standing in ORDER)
    to.print(Text(f"\nWhat {on} depends on: {numbers}", style="bold"))
    shown = [one for one in statements if one.row.statement.standing != ORDER[-1]]
    for one in shown if whole else shown[: FIRST[on]]:
        row, statement = one.row, one.row.statement
        effect = one.effect if whole or one.moved else ""
        cells = counted(one.cells, "cell") if one.cells and on == "a table" else ""
        about = ", ".join(filter(None, (row.spec, cells, effect and f"effect {effect}")))
        style = BAD if statement.standing == "differs" else ""
        line = f"{statement.standing}: {row.about} ({about})"
        if not whole:
            why = one.why or row.here
            to.print(Padding(Text(f"{line}{f': {why}' if why else ''}", style=style), (0, 0, 0, 2)))
            continue
        to.print(Text(f"\n{line}", style=style))
        lines = {
            f"the paper, {statement.section}": statement.says,
            "the program": statement.program,
            "here": row.here,
            "why": statement.differs or statement.ours,
        }
        for name, text in lines.items():
            if text:
                to.print(Padding(Text(f"{name}: {text}"), (0, 0, 0, 2)))
    if not whole and len(statements) > FIRST[on]:
        to.print(Text(f"  and {len(statements) - min(len(shown), FIRST[on])} more with --all", style=DIM))


def _first_line(value: Mapping[str, Any]) -> str:
    """Return the verdict of a cell, our value, the published one, their difference, and the runs; without a
    value of ours, what is missing."""
    published, verdict, ours = value.get("published"), value.get("verdict"), value.get("value")
    if "equal" in value:
        return _fact_line(value)
    shown = [f"{published['printed']} published"] if published else []
    if ours is None:
        missing = shorten(value.get("missing") or "nothing here", LONGEST_REASON, placeholder=" ...)")
        return ", ".join([missing, *shown])
    word = verdict["verdict"] if verdict else "no verdict"
    parts = [f"{word}: {number(ours)} here", *shown]
    parts += [f"difference {signed(value['difference'])}"] if value.get("difference") is not None else []
    parts += [f"{value['n']} of {value['expected']} runs"] if value.get("expected") else []
    return ", ".join(parts)


def _fact_line(value: Mapping[str, Any]) -> str:
    """Return a fact here, and whether it is as printed: `yes, as printed`."""
    ours, printed = value["value"], value["published"]
    if value["kind"] == "boolean" and printed is not None:
        printed = {"1": "yes", "0": "no"}.get(printed, printed)
    there = f"{printed} published" if printed is not None else "nothing published"
    if ours is None:
        return f"{value['reason'] or 'nothing here'}, {there}"
    here = _value_text(ours)
    return f"{here}, as printed" if value["equal"] else f"{here} here, {there}"


def _summary(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """Yield the inputs of a cell, each in a line: runs, recipe, search, data and weights."""
    if runs := explanation.runs:
        scores = (f"{one.failed or number(one.score or 0)}" for one in runs)
        yield f"{counted(len(runs), 'run')}, {explanation.value['metric']}", ", ".join(dict.fromkeys(scores))
    if setting := explanation.setting:
        yield "protocol", f"{setting['protocol']}, setting {setting['setting']}, in {setting['folder']}"
    if explanation.recipe:
        recipe = (f"{key.replace('_', ' ')} {_value_text(one)}" for key, one in explanation.recipe.items())
        yield "recipe", ", ".join(recipe)
    if search := explanation.search:
        tried = (f"{key.replace('_', ' ')} {_value_text(one)}" for key, one in search["grid"].items())
        who = f"by {' and '.join(search['models'])}, {counted(search['seeds'], 'seed')} each"
        chosen = f"on dev of {search['dataset']}; chosen: {_value_text(search['chosen'])}"
        yield "search", f"{'; '.join(tried) or 'number of steps'}; {who}, {chosen}"
    by_access: dict[str, list[str]] = {}
    for data in explanation.data:
        by_access.setdefault(data["access"], []).append(data["dataset"])
    for access, datasets in by_access.items():
        yield "data", f"{', '.join(datasets)}, {access}"
    if weights := explanation.weights:
        keys = ("folder", "id", "url", "revision", "sha256", "recipe", "step")
        found = (f"{key} {_value_text(weights[key])}" for key in keys if weights.get(key) is not None)
        yield "weights", f"{weights['model']}: {', '.join(found)}"


def _print_parts(to: Console, explanation: Explanation) -> None:
    made = table("Part", "Ours", "Published", "Runs", "Missing")
    for part in explanation.parts:
        value, published = part.value.get("value"), part.value.get("published")
        name = part.row if part.row != explanation.row else part.column
        if part.table != explanation.table:
            name = f"{part.table}: {part.row}, {part.column}"
        ours = "" if value is None else number(value)
        runs = f"{part.value.get('n', 0)} of {part.value.get('expected', 0)}"
        missing = part.value.get("missing") or ""
        made.add_row(name, ours, published["printed"] if published else "", runs, missing)
    to.print(made)


def _print_runs(to: Console, runs: tuple[CellRun, ...]) -> None:
    """Print a line for each run, then the software, machine and data of the runs."""
    made = table("Run", "Seed", "Score", "On dev", "Time", "File")
    for run in runs:
        dev = run.facts.get("dev_score")
        on_dev = "" if dev is None else number(100 * dev)
        mark = f" ({CONSTANT})" if run.facts.get("collapsed") else ""
        score = run.failed or ("" if run.score is None else number(run.score) + mark)
        time = duration(run.facts["seconds"]) if run.facts else ""
        made.add_row(run.dataset, str(run.seed), score, on_dev, time, run.file)
    to.print(made)
    for name in SHOWN_ONCE:
        seeds_of: dict[str, list[str]] = {}
        for run in runs:
            if run.facts:
                seeds_of.setdefault(_value_text(run.facts.get(name)), []).append(str(run.seed))
        for value, seeds in seeds_of.items():
            which = f" (seed {', '.join(seeds)})" if len(seeds_of) > 1 else ""
            to.print(Padding(Text(f"{name.replace('_', ' ')}{which}: {value}"), (0, 0, 0, 2), expand=False))


def _print_account(to: Console, account: Mapping[str, Any], depth: int = 1) -> None:
    """Print an account line by line; nested accounts are indented."""
    for name, value in account.items():
        inside = isinstance(value, Mapping) and any(isinstance(one, Mapping) for one in value.values())
        shown = f"{str(name).replace('_', ' ') if depth < 3 else name}:"
        if not inside:
            shown += f" {_value_text(value)}"
        to.print(Padding(Text(shown, overflow="fold"), (0, 0, 0, 2 * depth), expand=False))
        if inside:
            _print_account(to, value, depth + 1)


def _value_text(value: Any) -> str:
    """Return a value as one line of text; in a mapping, what is none is left out."""
    if isinstance(value, Mapping):
        known = (f"{name} {_value_text(one)}" for name, one in value.items() if one is not None)
        return ", ".join(known) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value_text, value)) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, int):
        return count(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
