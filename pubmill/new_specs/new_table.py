"""Specs of new tables: datasets by models under a protocol, with published values to be entered."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import yaml

from pubmill.errors import PubmillError
from pubmill.messages.installation import root
from pubmill.messages.wording import unknown
from pubmill.new_specs.spec_files import write_with_schema
from pubmill.specs import Specs, TableSpec
from pubmill.specs.table_checks import Made, obstacles
from pubmill.storage.files import writing
from pubmill.storage.name_patterns import KEY, TABLE

HEADING = "column,row,metric,value,note"
"""First line of a table's published values."""
BLANK = "not entered yet"
"""Note on a value that is still to be copied from the paper."""


class TableValues(TypedDict):
    name: str
    kind: str
    paper: str
    title: str
    caption: str
    protocol: str
    setting: str
    columns: list[dict[str, str]]
    rows: list[dict[str, str]]


def table_values(
    name: str, datasets: Sequence[str], models: Sequence[str], protocol: str, specs: Specs
) -> TableValues:
    """Return the values of a new table's spec, `PAPER/tableNN`, in the first setting of its protocol."""
    paper, _, table = name.rpartition("/")
    if not re.fullmatch(KEY, paper) or not re.fullmatch(TABLE, table):
        raise PubmillError(f"{name}: expected PAPER/tableNN, for example mine/table01")
    for kind, asked, known in (
        ("dataset", datasets, specs.datasets),
        ("model", models, specs.models),
        ("protocol", [protocol], specs.protocols),
    ):
        if strangers := [unknown(kind, one, known) for one in asked if one not in known]:
            raise PubmillError("\n".join(strangers))
    setting = next(iter(specs.protocols[protocol].settings))
    found = [specs.datasets[one] for one in datasets]
    rows = [{"dataset": one.name, "label": one.label or one.name, "group": one.task} for one in found]
    columns = [{"model": one, "label": specs.models[one].label or one} for one in models]
    caption = f"Test scores, fine-tuned as in protocol {protocol}."
    values: TableValues = {
        "name": table, "kind": "results", "paper": paper, "title": f"{paper}, {table}", "caption": caption,
        "protocol": protocol, "setting": setting, "columns": columns, "rows": rows,
    }  # fmt: skip
    made: Made = {"protocols": specs.protocols, "models": specs.models, "datasets": specs.datasets}
    if faults := [fault for _, fault in obstacles(TableSpec.model_validate(values), made)]:
        raise PubmillError("\n".join(f"{name} can't be run: {fault}" for fault in faults))
    return values


def write_table(values: TableValues, specs: Path, known: Specs) -> list[Path]:
    """Write the spec, and the published values with their keys; an existing table is never replaced."""
    spec = specs / "tables" / values["paper"] / f"{values['name']}.yaml"
    published = spec.with_suffix(".published.csv")
    for path in (spec, published):
        if (root() / path).exists():
            raise PubmillError(f"{path} exists; give the new table another name")
    lines = [  # one for each cell, whose number is to be entered
        f"{column['model']},{row['dataset'].partition('@')[0]},{known.datasets[row['dataset']].metric},,{BLANK}"
        for column in values["columns"]
        for row in values["rows"]
    ]
    text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=110)
    with writing(published) as temporary:
        temporary.write_text("\n".join([HEADING, *dict.fromkeys(lines), ""]), encoding="utf-8")
    write_with_schema(spec, "tables", text)
    return [spec, published]
