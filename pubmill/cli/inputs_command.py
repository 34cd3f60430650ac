"""`pubmill inputs`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import FULL, DatasetName, Prompts, Results
from pubmill.cli.verbs import Verb
from pubmill.specs.model_specs import PLAIN
from pubmill.storage.privacy import keep_private


def inputs(
    dataset: DatasetName,
    folder: Annotated[Path, typer.Argument(help="folder to write")],
    results: Results = FULL,
    prompt: Prompts = PLAIN,
    local: Annotated[
        bool, typer.Option("--local", help="the inputs stay on machines of your own (credentialed datasets)")
    ] = False,
) -> None:
    """Write test inputs without gold, for other systems to predict.

    They are written with their ids, as JSON lines, columns, BioC, PubTator, and as prompts.
    """
    root = checkout()
    from pubmill.examples.prompts import wording_of
    from pubmill.inspection import converted_datasets
    from pubmill.predictions.inputs_without_gold import write_inputs
    from pubmill.predictions.scores import examples_of
    from pubmill.predictions.submission import check_access, recipe_of
    from pubmill.recipes.submissions import System

    specs = converted_datasets.specs_of_results(root, results)
    converted_datasets.check_name(specs, dataset)
    spec, converted = specs.datasets[dataset], converted_datasets.converted_folder(root, results, dataset)
    keep_private([converted])
    here = System(name="not known yet", version="-", prompt="-", local=True) if local else None
    recipe = recipe_of(converted, here, dummies=spec.dummies)
    check_access(recipe)
    examples = examples_of(converted, recipe)
    template = converted_datasets.template_text(root, results, specs, prompt, dataset)
    wording = wording_of(spec, recipe.labels, template)
    for path in write_inputs(folder, examples, recipe, wording):
        print(path)
    unused = sorted(set(spec.glosses.labels) - set(recipe.labels)) if spec.glosses else []
    if unused:
        print(f"the dataset has no label {', '.join(unused)}, which its glosses explain")
    print(f"{dataset} {recipe.split}: inputs of {len(examples)} examples, without gold")


VERB = Verb("Data and predictions", inputs)
