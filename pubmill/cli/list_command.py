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

    rows = listed_studies() if kind == "studies" else specs_of(kind)
    width = max(len(name) for name, _ in rows)
    for name, what in rows:
        print_text(f"{name:<{width}}  {what}".rstrip(), hanging=width + 2)


def listed_studies() -> list[tuple[str, str]]:
    """Return name, and title and scale, of each study."""
    from pubmill.specs import strict_yaml
    from pubmill.specs.study import DEMO

    named = {path.stem: path for path in sorted(studies_folder().glob("*.yaml"))}
    files = {DEMO: root() / "config.yaml"} | named
    read = {name: strict_yaml.read(path, str(path), []).value for name, path in files.items()}
    return [(name, f"{one.get('title', '')} (scale {one.get('scale', DEMO)})") for name, one in read.items()]


def specs_of(kind: Kind) -> list[tuple[str, str]]:
    """Return name and description of each spec of a kind, at scale full."""
    from pubmill.specs import load

    specs = load(specs_folder(), "full")
    if kind == "tables":
        of_results = [(name, one.title) for name, one in specs.tables.items()]
        return sorted([*of_results, *((name, one.title) for name, one in specs.fact_tables.items())])
    if kind == "datasets":
        return [(name, f"{one.task}, {one.access}") for name, one in sorted(specs.datasets.items())]
    return [(name, one.label) for name, one in sorted(specs.models.items())]


VERB = Verb("Look", list_names)
