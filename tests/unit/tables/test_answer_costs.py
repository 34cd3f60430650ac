"""What the answers of language models cost, in tables beside what others took."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.report.table_rendering import TABLE_RENDERERS
from pubmill.tables.cells import Table, asked_cost, column_costs, total
from pubmill.tables.table_frames import cell_frame
from tests.unit import toy_tables as made_up

PRICE = {"prompt": 0.5, "answer": 2.0, "currency": "EUR"}


def asked_table(results: Path, **recipe: Any) -> Table:
    """Two runs of a fine-tuned model, and two of a language model."""
    made_up.write_all(results)
    for seed in (1, 2):
        counts = {"prompt_tokens": 1_000_000 * seed, "answer_tokens": 50_000, "cut_answers": seed}
        changes = {"encoded": counts, "recipe": {"task": "tokens", **recipe}}
        made_up.write(results, made_up.record("ours", "bc2gm", seed, 0.9, **changes))
    return made_up.table(results)


def test_cost_stands_below_the_scores_and_in_the_csv(tmp_path: Path) -> None:
    table = asked_table(tmp_path, price=PRICE)
    found = column_costs(table)
    one = made_up.record("bert", "bc2gm", 1, 0.8).seconds
    assert found["bert"].asked is None and found["bert"].seconds == 2 * one
    of_ours = found["ours"].asked
    assert of_ours and (of_ours.prompt_tokens, of_ours.answer_tokens) == (3_000_000, 100_000)
    assert of_ours.price == pytest.approx(1.7) and of_ours.currency == "EUR"
    for form in ("md", "html"):
        page = TABLE_RENDERERS[form](table)
        assert "Cost of all runs" in page
        assert "3,000,000 + 100,000 tokens, 1.70 EUR, 2 runs; answers: 0 not read, 3 cut off" in page
    lines = cell_frame(table).set_index(["column", "row"])
    assert lines.loc[("ours", "bc2gm"), "price"] == pytest.approx(1.7)
    assert lines.loc[("bert", "bc2gm"), "prompt_tokens"] is None
    made_up.write_all(tmp_path)
    plain = made_up.table(tmp_path)
    assert column_costs(plain) == {} and "prompt_tokens" not in cell_frame(plain)
    assert "Cost of all runs" not in TABLE_RENDERERS["md"](plain)
    assert "asked" not in TABLE_RENDERERS["json"](plain)


def test_a_sum_has_a_price_only_if_all_have_one_in_the_same_currency() -> None:
    cost = asked_cost({"price": PRICE}, {"prompt_tokens": 2_000_000, "answer_tokens": 1})
    assert cost and cost.price == pytest.approx(1.000002)
    other = asked_cost({"price": PRICE | {"currency": "USD"}}, {"prompt_tokens": 1, "answer_tokens": 1})
    unpriced = asked_cost({}, {"prompt_tokens": 1, "answer_tokens": 1})
    assert other and unpriced and unpriced.price is None
    for added in (other, unpriced):
        summed = total([cost, added])
        assert summed and (summed.prompt_tokens, summed.price) == (2_000_001, None)
    assert asked_cost({}, {"spans": 3}) is None and total([]) is None
