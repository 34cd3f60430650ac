"""`pubmill new`."""

import tempfile
from itertools import count
from pathlib import Path
from typing import Annotated, Literal

import typer

from pubmill.cli.checkout import WORKSPACE, check_new_folders, checkout, save_folders
from pubmill.cli.studies import OWN_SPECS, configuration, dataset_names, specs_folder
from pubmill.cli.verbs import Verb
from pubmill.messages import commands

MODEL = "pubmedbert-base"
"""The model that the proposed table has as a column."""
APP = typer.Typer(no_args_is_help=True, help="Write the spec of a model, dataset or table.")


@APP.command()
def model(
    weights: Annotated[str, typer.Argument(help="./FOLDER, or hub:GROUP/MODEL@COMMIT")],
    name: Annotated[str | None, typer.Option(help="of the spec; that of the folder by default")] = None,
    system: Annotated[
        str | None,
        typer.Option(help="JSON text or file, for predictions: name, version, url or prompt, local"),
    ] = None,
) -> None:
    """Describe a model of a folder or the hub, or predictions.

    Writes specs/models/NAME.yaml, after a check that the model loads. workspace.yaml remembers a folder. A
    folder of predictions (DATASET.EXT) needs --system, its author's statement.
    """
    checkout()
    from pubmill.new_specs.new_model import new_model, write_spec  # Imports torch, which takes seconds.
    from pubmill.recipes import read
    from pubmill.recipes.submissions import System

    stated = read(System, system, option="--system") if system else None
    described = new_model(weights, name, stated, dataset_names())
    check_new_folders(described.local_files, configuration([], None)["local_files"])
    print(write_spec(described, OWN_SPECS))
    _save_folders(described.local_files)
    print(f"a table with it: {commands.pubmill('table', 'gu2020/table06', '--model', described.name, '-n')}")


@APP.command()
def dataset(
    files: Annotated[
        list[str],
        typer.Argument(help="https://... or files, one for each split; a folder; or hub:GROUP/NAME@COMMIT"),
    ],
    name: Annotated[str | None, typer.Option(help="of the spec; that of the folder by default")] = None,
    mirror: Annotated[str | None, typer.Option(help="folder with HOST/PATH, in place of the network")] = None,
    reading: Annotated[
        str | None,
        typer.Option(
            "--as",
            help="of documents: mentions, nested, relations, pairs; of BioASQ's questions: list, factoid",
        ),
    ] = None,
    access: Annotated[
        Literal["public", "local"] | None,
        typer.Option(help="who may have the data; files of this machine are local by default"),
    ] = None,
    offsets: Annotated[
        str, typer.Option(help="how those of documents count: utf-16, bytes, shift=N, separator=N, last, ...")
    ] = "",
    misplaced: Annotated[
        Literal["leave_out"] | None,
        typer.Option(help="what to do with mentions that are not at their offsets"),
    ] = None,
) -> None:
    """Describe a dataset of files or the hub.

    Writes specs/datasets/NAME.yaml with its hashes, form and counts; workspace.yaml remembers a folder.
    Prints what is doubtful. Files that others licence to you: docs/datasets.md.
    """
    from pubmill.new_specs.file_forms import Given
    from pubmill.new_specs.new_dataset import describe, new_dataset, write_dataset

    checkout()
    with tempfile.TemporaryDirectory() as copies:
        made = new_dataset(files, name, mirror, Path(copies), access=access)
        description = describe(made, Given(reading, offsets, misplaced is not None))
        print(write_dataset(made, description, Path()))
    for line in description.report(made):
        print(line)
    if made.folder:
        _save_folders({made.name: str(made.folder.resolve())})
    names = (f"mine/table{number:02}" for number in count(1))
    free = next(one for one in names if not (OWN_SPECS / f"tables/{one}.yaml").exists())
    table = commands.pubmill("new", "table", free, "--dataset", made.name, "--model", MODEL)
    print(f"next, a table with it as a row: {table}")


@APP.command()
def table(
    name: Annotated[str, typer.Argument(help="for example mine/table01")],
    dataset: Annotated[list[str], typer.Option(help="a row; may be repeated")],
    model: Annotated[list[str], typer.Option(help="a column; may be repeated")],
    protocol: Annotated[str, typer.Option(help="how models are fine-tuned")] = "blurb",
) -> None:
    """Describe a table of your own.

    Writes specs/tables/NAME.yaml, with datasets as rows and models as columns, and beside it a file with a
    line for each published value.
    """
    from pubmill.new_specs.new_table import write_table
    from pubmill.specs import load

    checkout()
    known = load(specs_folder(), "full")
    for path in write_table(name, dataset, model, protocol, known, OWN_SPECS):
        print(path)
    columns = [word for one in model for word in ("--model", one)]
    dry_run = commands.pubmill("table", name, *columns, "-n")
    print(f"enter the published values, or leave them empty; a dry run: {dry_run}")


def _save_folders(folders: dict[str, str]) -> None:
    """Add folders to workspace.yaml, and print them."""
    save_folders(folders)
    for key, folder in folders.items():
        print(f"In {WORKSPACE}: local_files: {{{key}: {folder}}}")


VERB = Verb("New", APP)
