"""Output of pubmill explain."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from pydantic_core import to_jsonable_python
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from pubmill.inspection.explain.cell_explanations import CellRun, Explanation
from pubmill.inspection.explain.table_statements import ORDER, TableStatements, WeighedStatement
from pubmill.messages.wording import counted
from pubmill.metrics.collapse import CONSTANT
from pubmill.planning.terminal_tables import BAD, DIM, table
from pubmill.report.rendering import count, duration, number, signed

SHOWN_ONCE = ("commit", "python", "machine", "packages", "data_sha256", "model_sha256", "predictions")
"""Facts that most runs of a cell share; each value is printed once for all runs that have it."""


def to_json(explanation: Explanation | TableStatements) -> str:
    """Return the whole explanation as JSON, for other programs."""
    return json.dumps(asdict(explanation), indent=2, ensure_ascii=False, default=to_jsonable_python)


def print_explanation(to: Console, explanation: Explanation) -> None:
    """Print the cell, its runs, then the inputs of those runs."""
    to.print(Text(f"{explanation.table}, {explanation.row}, {explanation.column}", style="bold"))
    if explanation.value.get("value") is not None:
        to.print(Text(_verdict_line(explanation.value), style="bold"))
    elif missing := explanation.value.get("missing"):
        to.print(Text(missing, style="bold"))
    for line in _value_lines(explanation.value):
        to.print(line)
    if explanation.refused:
        to.print(Text(f"refused: {explanation.refused}", style=BAD))
    to.print(Text(f"scale: {explanation.scale}", style=DIM))
    if explanation.parts:
        _print_parts(to, explanation)
    if explanation.runs:
        _print_runs(to, explanation.runs)
    accounts: dict[str, Mapping[str, Any] | None] = {
        "Compared with the best of its row": explanation.compared,
        "Protocol": explanation.setting,
        "Resolved recipe": explanation.recipe,
        "Choice of hyper-parameters": explanation.choice,
        **{f"Data {one['dataset']}": one for one in explanation.data},
        "Weights": explanation.weights,
    }
    for heading, account in accounts.items():
        if account:
            to.print(Text(f"\n{heading}", style="bold"))
            _print_account(to, account)
    if explanation.to_do:
        to.print(Text("\nHow to make what is missing", style="bold"))
        for command in explanation.to_do:
            to.print(f"  {command}", soft_wrap=True)


def print_statements(to: Console, shown: TableStatements) -> None:
    """Print what differs from the paper, what is ours and as the program; count what is as printed."""
    to.print(Text(f"{shown.table}: {shown.title}", style="bold"))
    counts = Counter(one.row.statement.standing for one in shown.statements)
    to.print(", ".join(f"{counts[standing]} {standing}" for standing in ORDER))
    for standing in ORDER[:-1]:
        for one in shown.statements:
            if one.row.statement.standing == standing:
                _print_statement(to, one)
    notes = {"How its cells are made": shown.reasons, "What is known about its datasets": shown.conflicts}
    for heading, texts in notes.items():
        to.print(Text(f"\n{heading}", style="bold"), *(Padding(Text(text), (0, 0, 0, 2)) for text in texts))


def _print_statement(to: Console, one: WeighedStatement) -> None:
    row, statement = one.row, one.row.statement
    cells = f", {counted(one.cells, 'cell')}, effect {one.effect}" if one.cells else ""
    style = BAD if statement.standing == "differs" else ""
    to.print(Text(f"\n{statement.standing}: {row.about} ({row.spec}{cells})", style=style))
    lines = {
        f"the paper, {statement.section}": statement.says,
        "the program": statement.program,
        "here": row.here,
        "why": statement.differs or statement.ours,
    }
    for name, text in lines.items():
        if text:
            to.print(Padding(Text(f"{name}: {text}"), (0, 0, 0, 2)))


def _verdict_line(value: Mapping[str, Any]) -> str:
    """Return the verdict of a cell, our value, the published one, their difference, and the runs."""
    published, verdict = value.get("published"), value.get("verdict")
    word = verdict["verdict"] if isinstance(verdict, Mapping) else "no verdict"
    parts = [f"{word}: {number(value['value'])} here"]
    parts += [f"{number(published['value'])} published"] if isinstance(published, Mapping) else []
    parts += [f"difference {signed(value['difference'])}"] if value.get("difference") is not None else []
    parts += [f"{value['n']} of {value['expected']} runs"] if value.get("expected") else []
    return ", ".join(parts)


def _value_lines(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the cell's numbers and reasons, line by line; a mean score has two decimals, a count has none."""
    for name, part in value.items():
        if part is None or part in ("", ()) or name == "missing":  # which stands first
            continue
        if name == "published" and isinstance(part, Mapping):
            note = f" ({part['note']})" if part.get("note") else ""
            yield f"published: {number(part['value'])}{note}"
        elif name == "verdict" and isinstance(part, Mapping):
            yield f"verdict: {_verdict_text(part)}"
        elif isinstance(part, float):
            yield f"{name}: {signed(part) if name == 'difference' else number(part)}"
        elif isinstance(part, Mapping):
            yield f"{name}: {json.dumps(_rounded(part), ensure_ascii=False)}"
        else:
            yield f"{name}: {part}"


def _rounded(value: Any) -> Any:
    """Return a value with all floats in it rounded to four significant digits."""
    if isinstance(value, Mapping):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _verdict_text(verdict: Mapping[str, Any]) -> str:
    """Return a verdict with its reason, and the numbers that it is computed from."""
    measures = ("margin", "p", "detectable")
    numbers = [f"{name} {verdict[name]:.4g}" for name in measures if verdict.get(name) is not None]
    why = [verdict["why"]] if verdict.get("why") else []
    return "; ".join([verdict["verdict"], *why, *([", ".join(numbers)] if numbers else [])])


def _print_parts(to: Console, explanation: Explanation) -> None:
    """Print one line for each part; each part can be explained by itself."""
    made = table("Part", "Ours", "Runs", "Missing")
    for part in explanation.parts:
        value = part.value.get("value")
        name = part.row if part.row != explanation.row else part.column
        if part.table != explanation.table:
            name = f"{part.table}: {part.row}, {part.column}"
        ours = "" if value is None else number(value)
        runs = f"{part.value.get('n', 0)} of {part.value.get('expected', 0)}"
        made.add_row(name, ours, runs, part.value.get("missing") or "")
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
    """Return a value as one line of text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_value_text(one)}" for name, one in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value_text, value)) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, int):
        return count(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
