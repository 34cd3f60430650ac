"""`pubmill export`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import FULL, DatasetName, Results
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.storage.privacy import keep_private


def export(
    dataset: DatasetName,
    folder: Annotated[Path | None, typer.Argument(help="folder to write; or --to")] = None,
    to: Annotated[Path | None, typer.Option("--to", help="folder to write")] = None,
    form: Annotated[
        str | None,
        typer.Option("--as", "--form", help="parquet, conll, ... in place of the published form"),
    ] = None,
    results: Results = FULL,
) -> None:
    """Write a converted dataset in a published or general form.

    `--as` names a general form. In its published form, each file is compared with the published bytes.
    """
    root = checkout()
    from pubmill.convert.exports import publish
    from pubmill.inspection.converted_datasets import check_name, converted_folder, specs_of_results
    from pubmill.inspection.dataset_exports import ELSEWHERE, PARQUET, refuse_gated, write_card, write_parquet
    from pubmill.messages.terminal_tables import print_text
    from pubmill.stages.dataset_recipes import BLURB, GENERAL, published_recipe

    target = folder or to
    if target is None:
        raise PubmillError(f"no folder to write is named: pubmill export {dataset} --to FOLDER")
    if folder and to:
        raise PubmillError(f"two folders to write are named, {folder} and --to {to}: leave one out")
    if form is not None and form not in (*GENERAL, *ELSEWHERE):
        raise PubmillError(unknown("form", form, sorted({*GENERAL, *ELSEWHERE})))
    specs = specs_of_results(root, results)
    check_name(specs, dataset)
    if form in ELSEWHERE:
        refuse_gated(dataset, specs, form, target)
    spec, converted = specs.datasets[dataset], converted_folder(root, results, dataset)
    keep_private([converted])
    if form == PARQUET:
        files = write_parquet(spec, converted, target)
        for path in (*map(target.joinpath, files.values()), write_card(dataset, specs, files, target)):
            print(path)
        return
    recipe = published_recipe(dataset, spec, form)
    general = f"form {form}" if form else "no published form: a general one"
    otherwise = "published bytes not known" if spec.published and form in (None, BLURB) else general
    written = publish(recipe, converted, target)
    for split, file in written.items():
        known = "the published bytes" if file["equal"] else otherwise
        print_text(f"{target / file['name']}: {split}, sha256 {file['sha256']} ({known})")
    if form == "hugging-face":
        write_card(dataset, specs, {split: file["name"] for split, file in written.items()}, target)


VERB = Verb("Data and predictions", export)
