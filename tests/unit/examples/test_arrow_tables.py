"""Examples as Arrow tables: the same columns for every split, and nothing lost."""

from typing import Any

import pytest

from pubmill.examples.arrow_tables import to_table
from pubmill.examples.kinds import KINDS, TokensExample, as_row
from tests.unit import toy_examples as toy


@pytest.mark.parametrize("name", toy.KINDS)
def test_a_table_has_every_field_of_every_example(name: str) -> None:
    examples, kind = toy.examples(name), KINDS[toy.KINDS[name]]
    table = to_table(examples, kind)
    for row, one in zip(table.to_pylist(), examples, strict=True):
        filled = {key: value for key, value in row.items() if value or key in as_row(one)}
        assert _without_nulls(filled) == _without_nulls(as_row(one))
    fewer = to_table(examples[:1], kind)
    assert fewer.schema == table.schema == to_table([], kind).schema


def test_layers_are_columns_where_there_are_some() -> None:
    bare = TokensExample(id="1", document=None, words=["a"], labels=["O"])
    layered = TokensExample(id="2", document=None, words=["a"], labels=["O"], layers={"PAR": [1]})
    assert "layers" not in to_table([bare], TokensExample).column_names
    assert to_table([bare, layered], TokensExample).to_pylist()[1]["layers"] == {"PAR": [1]}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value
