"""`pubmill predict`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import start_script
from pubmill.cli.studies import sort_words
from pubmill.errors import PubmillError


def predict(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="folder of a kept task model")],
    files: Annotated[
        list[str],
        typer.Argument(
            help="text, JSON lines, BioC or PubTator; folders of such files; then the file to write, or the "
            "folder for several",
        ),
    ],
) -> None:
    """Annotate new text with a fine-tuned model that a run kept.

    `-` is the standard input (then add --format) or output. Further options: --confidences, --type, --map.
    """
    words = sort_words([*files, *context.args])
    if len(words.names) < 2:
        raise PubmillError(
            f"after {model}, name the text to annotate, then the file to write (- for the standard output), "
            f"then options; found only {' '.join(words.names) or 'options'}"
        )
    *texts, output = words.names
    start_script("predict", "--model", model, "--input", *texts, "--output", output, *words.options)
