"""Examples as Arrow tables, for Parquet, pandas and Hugging Face's `datasets`."""

from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import pyarrow as pa

from pubmill.examples.kinds import Example

_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64()}
LAYERS = "layers"
"""The one field whose keys differ between datasets; a column only where examples have some."""


def to_table(examples: Sequence[Example], kind: type[Example]) -> pa.Table:
    """Return the examples of one kind as a table, a column for each field; empty fields stay empty lists or
    nulls, so that all splits of a dataset have the same columns."""
    rows = [asdict(one) for one in examples]
    columns = [(name, _arrow_type(hint)) for name, hint in get_type_hints(kind).items() if name != LAYERS]
    if layers := list(dict.fromkeys(name for row in rows for name in row.get(LAYERS, ()))):
        columns.append((LAYERS, pa.struct([(name, pa.list_(pa.int64())) for name in layers])))
    return pa.Table.from_pylist(rows, pa.schema(columns))


def _arrow_type(hint: Any) -> pa.DataType:
    """Return the type of a field: a text or number, possibly None, a list, or another dataclass."""
    if get_origin(hint) is list:
        return pa.list_(_arrow_type(get_args(hint)[0]))
    if is_dataclass(hint):
        return pa.struct([(name, _arrow_type(part)) for name, part in get_type_hints(hint).items()])
    [plain] = set(get_args(hint) or (hint,)) - {NoneType}
    return _TYPES[plain]
