"""Facts read from artefacts."""

from typing import Any

import pytest

from pubmill.recipes.fact_tables import FactSource, FactTableColumn, FactTableRow
from pubmill.tables.fact_cells import found

STATE = "pretraining/m/step-9/state.json"


@pytest.mark.parametrize(
    ("held_out", "value", "lacking"),
    [
        ({"n-gram": {"mlm_loss": 1.24}, "subword": {"mlm_loss": 0.9}}, 1.24, None),
        ({"n-gram": {"clm_loss": 3.1}}, None, "the pretraining of m measured none on held-out documents"),
        (None, None, "the pretraining of m measured none on held-out documents"),
    ],
)
def test_a_masked_loss_is_that_of_the_recipes_own_masking(held_out: Any, value: Any, lacking: Any) -> None:
    sources = {"loss": FactSource(files=(STATE,))}
    row = FactTableRow(subject="m", label="M", measure="", published="m", why={}, sources=sources)
    column = FactTableColumn(key="loss", label="L", value="masked_loss", kind="ratio", published="loss")
    state = {"recipe": {"objective": {"masking": "n-gram"}}, "held_out": held_out}
    assert found(row, column, {STATE: state}) == (value, lacking)
