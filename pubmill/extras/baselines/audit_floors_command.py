"""`pubmill audit floors`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import FULL, Results, specs_folder
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages.progress import report_progress
from pubmill.messages.wording import unknown
from pubmill.storage.result_paths import Paths


def floors(
    dataset: Annotated[list[str] | None, typer.Option(help="only this one; may be repeated")] = None,
    results: Results = FULL,
    output: Annotated[Path | None, typer.Option(help="folder to write (floors in --results)")] = None,
    form: Annotated[str, typer.Option("--format", help="of the table: text, md, csv, json")] = "text",
) -> None:
    """Score predictions that need no learning, or only seconds of it.

    Writes DATASET/FLOOR.predictions.jsonl.gz and FLOOR.json, and prints the table beside the published
    scores; of all converted datasets unless --dataset names some.
    """
    checkout()
    from pubmill.extras.baselines.headroom import BASELINE_RENDERERS, ceiling_of, headroom
    from pubmill.extras.baselines.measured import measure_floors
    from pubmill.inspection.converted_datasets import check_name, datasets_with_splits
    from pubmill.library.loaded_datasets import load_dataset
    from pubmill.specs import load

    if form not in BASELINE_RENDERERS:
        raise PubmillError(unknown("format", form, list(BASELINE_RENDERERS)))
    specs = load(specs_folder(), "full")
    names = dataset or datasets_with_splits(sorted(specs.datasets), results, ("train", "test"))
    folder = output or Path(Paths(results).floors())
    headrooms = []
    for name in names:
        check_name(specs, name)
        data, splits = specs.datasets[name], load_dataset(name, results)
        measured = measure_floors(data, {split: one.path for split, one in splits.items()}, folder / name)
        headrooms.append(headroom(data, measured, ceiling_of(data, splits["test"]), specs, specs_folder()))
        report_progress(f"{len(headrooms)} of {len(names)}: {name}")
    print(BASELINE_RENDERERS[form](headrooms), end="")


VERB = Verb("Papers", floors)
