"""`pubmill predict`."""

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages.progress import report_progress
from pubmill.messages.wording import counted
from pubmill.storage.privacy import keep_private, write_label_beside

Format = Literal["text", "jsonl", "bioc-json", "bioc-xml", "pubtator"]


def predict(
    model: Annotated[Path, typer.Argument(help="folder of a kept task model")],
    files: Annotated[
        list[Path],
        typer.Argument(
            help="text, JSON lines, BioC or PubTator; folders of such files; then the file to write, or the "
            "folder for several"
        ),
    ],
    form: Annotated[
        Format | None, typer.Option("--format", help="format of the input (default: from its name)")
    ] = None,
    punkt: Annotated[
        Path | None, typer.Option(help="NLTK's punkt_tab.zip: predict by sentence instead of by line")
    ] = None,
    confidences: Annotated[
        bool, typer.Option("--confidences", help="add the model's probability to each prediction")
    ] = False,
    types: Annotated[
        list[str] | None, typer.Option("--type", help="predict only this type; may be repeated")
    ] = None,
    renamed: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="OLD=NEW", help="write a type under another name; repeatable"),
    ] = None,
) -> None:
    """Annotate new text with a fine-tuned model that a run kept.

    BioC and PubTator keep their format; text and JSON lines become JSON lines. A file whose name also ends
    with .gz is compressed. `-` is the standard input (with --format) or output. All files are UTF-8; offsets
    count characters, starting after a byte-order mark if there is one. The same input gives the same bytes.
    """
    if len(files) < 2:
        raise PubmillError(
            f"after {model}, name the text to annotate, then the file to write (- for the standard output); "
            f"found only {files[0]}"
        )
    *sources, target = files
    if sources == [Path("-")] and not form:
        raise PubmillError("the standard input has no name; name its format with --format")
    keep_private([model, *sources])
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # as in scripts/pretrain.py

    # Imported only after the arguments are checked: importing torch takes seconds.
    from pubmill.finetuning.predicting import choose_device
    from pubmill.finetuning.task_models import load_task_model, read_facts
    from pubmill.formats.document_files import format_of
    from pubmill.prediction import annotated_files
    from pubmill.prediction.annotating import Annotator, load_splitter, own_types, written_names

    with annotated_files.without_streams(sources, target) as (inputs, output):
        places = annotated_files.targets(inputs, output)
        keep_private([model, *places])  # of a folder, the label is beside each file
        forms = {source: form or format_of(source) for source in places}
        annotated_files.check_targets(places, forms)
        predictor = load_task_model(model, choose_device())
        names = written_names(own_types(predictor), types or [], renamed or [])
        pairs = read_facts(model).argument_types
        annotator = Annotator(predictor, pairs, load_splitter(punkt), names, confidences)
        for number, (source, place) in enumerate(places.items(), 1):
            write_label_beside(place)
            annotated_files.annotate_file(annotator, source, place, forms[source])
            if len(places) > 1:
                print(f"{number}/{len(places)} {place}", file=sys.stderr)
    for what, number in sorted(annotator.counts.items()):
        if number:
            print(f"{what.replace('_', ' ')}: {number}", file=sys.stderr)
    if str(target) != annotated_files.STREAM:
        report_progress(f"annotated {counted(len(places), 'file')}; written to {target}")


VERB = Verb("Run", predict)
