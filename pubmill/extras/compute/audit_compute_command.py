"""`pubmill audit compute`."""

import json
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import measured_gpus, specs_folder
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError


def compute(
    parameters: Annotated[float | None, typer.Option(help="of a model of your own, such as 149e6")] = None,
    tokens: Annotated[float | None, typer.Option(help="that it was trained on, such as 55e9")] = None,
    gpu: Annotated[str, typer.Option(help="one of specs/gpus.yaml")] = "A100",
    hours: Annotated[
        float | None, typer.Option(help="GPU-hours that are stated, of all GPUs together")
    ] = None,
    layers: Annotated[int, typer.Option(help="adds attention, with --hidden and --length")] = 0,
    hidden: Annotated[int, typer.Option(help="hidden size")] = 0,
    length: Annotated[int, typer.Option(help="tokens of a sequence")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="numbers instead of a table")] = False,
) -> None:
    """Compare printed GPU-hours of pretraining with the hours that its operations take at the GPUs' peak.

    Lists what the papers print; with --parameters and --tokens, one pretraining of your own figures. Above
    100 % of the peak, the figures cannot all be right; nothing else is concluded.
    """
    checkout()
    from pubmill.extras.compute.printed_costs import (
        all_compute,
        as_rows,
        json_of,
        printed_costs,
        typed_compute,
    )
    from pubmill.messages.wording import aligned
    from pubmill.specs import load

    for needed in (
        {"--parameters": parameters, "--tokens": tokens},
        {"--layers": layers, "--hidden": hidden, "--length": length},
    ):
        given = [option for option, value in needed.items() if value]
        if lacking := [option for option in needed if given and option not in given]:
            raise PubmillError(
                f"{' and '.join(given)} without {' and '.join(lacking)}: give all of them, or none"
            )
    peaks = measured_gpus().peaks
    if parameters is not None and tokens is not None:
        attended = (layers, hidden, length) if layers else None
        pretrainings = [typed_compute(parameters, tokens, attended, gpu, hours)]
    else:
        pretrainings = list(all_compute(load(specs_folder(), "full"), printed_costs()))
    rows = as_rows(pretrainings, peaks)
    print(json.dumps(json_of(pretrainings, peaks), indent=2) if as_json else "\n".join(aligned(rows)))


VERB = Verb("Papers", compute)
