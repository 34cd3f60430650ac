"""`pubmill predict`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import start_script


def predict(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="folder of a kept task model")],
    text: Annotated[str, typer.Argument(help="text, JSON lines, BioC or PubTator; a folder of such files")],
    output: Annotated[str, typer.Argument(help="file to write; for a folder, the folder")],
) -> None:
    """Annotate new text with a fine-tuned model that a run kept.

    `-` is the standard input (then add --format) or output. Further options: --confidences, --type, --map.
    """
    start_script("predict", "--model", model, "--input", text, "--output", output, *context.args)
