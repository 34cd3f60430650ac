"""Specs of new tables: datasets by models under a protocol, with published values to be entered."""

import re
from collections.abc import Sequence
from pathlib import Path

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


def write_table(
    name: str, datasets: Sequence[str], models: Sequence[str], protocol: str, known: Specs, specs: Path
) -> list[Path]:
    """Write the spec of a new table, `PAPER/tableNN`, in the first setting of its protocol, and its published
    values with their keys; return both paths. An existing table is never replaced."""
    paper, _, table = name.rpartition("/")
    if not re.fullmatch(KEY, paper) or not re.fullmatch(TABLE, table):
        raise PubmillError(f"{name}: expected PAPER/tableNN, for example mine/table01")
    for kind, asked, there in (
        ("dataset", datasets, known.datasets),
        ("model", models, known.models),
        ("protocol", [protocol], known.protocols),
    ):
        if strangers := [unknown(kind, one, there) for one in asked if one not in there]:
            raise PubmillError("\n".join(strangers))
    found = [known.datasets[one] for one in datasets]
    values = {
        "name": table, "kind": "results", "paper": paper, "title": f"{paper}, {table}",
        "caption": f"Test scores, fine-tuned as in protocol {protocol}.", "protocol": protocol,
        "setting": next(iter(known.protocols[protocol].settings)),
        "columns": [{"model": one, "label": known.models[one].label or one} for one in models],
        "rows": [{"dataset": one.name, "label": one.label or one.name, "group": one.task} for one in found],
    }  # fmt: skip
    made: Made = {"protocols": known.protocols, "models": known.models, "datasets": known.datasets}
    if faults := [fault for _, fault in obstacles(TableSpec.model_validate(values), made)]:
        raise PubmillError("\n".join(f"{name} can't be run: {fault}" for fault in faults))
    spec = specs / "tables" / paper / f"{table}.yaml"
    published = spec.with_suffix(".published.csv")
    for path in (spec, published):
        if (root() / path).exists():
            raise PubmillError(f"{path} exists; give the new table another name")
    lines = [  # one for each cell, whose number is to be entered
        f"{model},{data.name.partition('@')[0]},{data.metric},,{BLANK}" for model in models for data in found
    ]
    with writing(published) as temporary:
        temporary.write_text("\n".join([HEADING, *dict.fromkeys(lines), ""]), encoding="utf-8")
    text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=110)
    write_with_schema(spec, "tables", text)
    return [spec, published]
