"""`pubmill export`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import FULL, DatasetName, Results
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.storage.files import writing
from pubmill.storage.privacy import keep_private


def export(
    dataset: DatasetName,
    folder: Annotated[Path, typer.Argument(help="folder to write")],
    form: Annotated[
        str | None, typer.Option(help="bioc, brat, conll, ... in place of the published form")
    ] = None,
    results: Results = FULL,
) -> None:
    """Write a converted dataset in a published or general form.

    In its published form, each file is compared with the published bytes.
    """
    root = checkout()
    from pubmill.convert.exports import publish
    from pubmill.inspection.converted_datasets import check_name, converted_folder, specs_of_results
    from pubmill.stages.dataset_recipes import GENERAL, dataset_card, published_recipe

    if form is not None and form not in GENERAL:
        raise PubmillError(unknown("form", form, sorted(GENERAL)))
    found = specs_of_results(root, results)
    check_name(found, dataset)
    spec = found.datasets[dataset]
    recipe = published_recipe(dataset, spec, form)
    examples = converted_folder(root, results, dataset)
    general = f"form {form}" if form else "no published form: a general one"
    otherwise = "published bytes not known" if spec.published and not form else general
    keep_private([examples])
    for split, file in publish(recipe, examples, folder).items():
        known = "the published bytes" if file["equal"] else otherwise
        print(f"{folder / file['name']}: {split}, sha256 {file['sha256']} ({known})")
    if form == "hugging-face":
        with writing(folder / "README.md") as temporary:
            temporary.write_text(dataset_card(dataset, spec), encoding="utf-8")


VERB = Verb("Data and predictions", export)
