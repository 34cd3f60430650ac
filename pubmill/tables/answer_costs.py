"""What the answers of language models cost, from the records of their runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pubmill.metrics.records import ASKED_TOKENS
from pubmill.recipes.submissions import Price
from pubmill.tables.cells import AskedCost, SeedScore, Table


def asked_cost(recipe: Mapping[str, Any], encoded: Mapping[str, int]) -> AskedCost | None:
    """Return the cost of a run by its record's fields; None if no language model was asked."""
    if not encoded.keys() >= set(ASKED_TOKENS):
        return None
    read, written = (encoded[name] for name in ASKED_TOKENS)
    price = Price(**stated) if (stated := recipe.get("price")) else None
    return AskedCost(
        prompt_tokens=read,
        answer_tokens=written,
        price=price.of(read, written) if price else None,
        currency=price.currency if price else None,
        unread=encoded.get("unmapped_answers", 0),
        cut=encoded.get("cut_answers", 0),
    )


def total(costs: Iterable[AskedCost]) -> AskedCost | None:
    """Return the sum of some costs; without a price unless all have one in the same currency."""
    asked = list(costs)
    if not asked:
        return None
    currencies = {one.currency for one in asked}
    prices = [one.price for one in asked if one.price is not None]
    is_priced = len(prices) == len(asked) and len(currencies) == 1
    return AskedCost(
        prompt_tokens=sum(one.prompt_tokens for one in asked),
        answer_tokens=sum(one.answer_tokens for one in asked),
        price=sum(prices) if is_priced else None,
        currency=currencies.pop() if is_priced else None,
        unread=sum(one.unread for one in asked),
        cut=sum(one.cut for one in asked),
    )


@dataclass(frozen=True)
class ColumnCost:
    """What all runs of a column took: their number, `seconds` of fine-tuning, or the answers' cost."""

    runs: int
    seconds: float
    asked: AskedCost | None


def column_costs(table: Table) -> dict[str, ColumnCost]:
    """Return column -> cost, for a table in which a language model is asked; empty for others."""
    if not table.asks:
        return {}
    seeds: dict[str, dict[str, SeedScore]] = {}
    for _, column, cell in table.read():
        seeds.setdefault(column.key, {}).update({seed.record: seed for seed in cell.seeds if seed.record})
    return {
        column: ColumnCost(
            runs=len(runs),
            seconds=sum(seed.seconds or 0.0 for seed in runs.values()),
            asked=total(seed.asked for seed in runs.values() if seed.asked),
        )
        for column, runs in seeds.items()
        if runs
    }
