"""`pubmill list`."""

from typing import Annotated, Literal

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import specs_folder, studies_folder
from pubmill.cli.verbs import Verb
from pubmill.messages.installation import root

Kind = Literal["studies", "tables", "datasets", "models"]


def list_names(kind: Annotated[Kind, typer.Argument(help="what to list")] = "studies") -> None:
    """List the studies, tables, datasets or models that there are.

    Each line has a name as other verbs take it, and what it is.
    """
    checkout()
    from pubmill.messages.terminal_tables import print_text
    from pubmill.specs import load, strict_yaml
    from pubmill.specs.study import DEMO

    if kind == "studies":
        named = {path.stem: path for path in sorted(studies_folder().glob("*.yaml"))}
        files = {DEMO: root() / "config.yaml"} | named
        read = {name: strict_yaml.read(path, str(path), []).value for name, path in files.items()}
        rows = [
            (name, f"{one.get('title', '')} (scale {one.get('scale', DEMO)})") for name, one in read.items()
        ]
    else:
        specs = load(specs_folder(), "full")
        by_kind = {
            "tables": {name: one.title for name, one in specs.tables.items()}
            | {name: one.title for name, one in specs.fact_tables.items()},
            "datasets": {name: f"{one.task}, {one.access}" for name, one in specs.datasets.items()},
            "models": {name: one.label for name, one in specs.models.items()},
        }
        rows = sorted(by_kind[kind].items())
    width = max(len(name) for name, _ in rows)
    for name, what in rows:
        print_text(f"{name:<{width}}  {what}".rstrip(), hanging=width + 2)


VERB = Verb("Look", list_names)
