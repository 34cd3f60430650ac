"""Annotate new text with a task model that scripts/finetune.py --keep wrote.

    .venv/bin/python scripts/predict.py --model TASK_MODEL --input FILE ... --output FILE
                              [--punkt punkt_tab.zip] [--confidences] [--type T ...] [--map OLD=NEW ...]

Inputs: text, JSON lines, BioC (JSON or XML) or PubTator. The file's name (.txt, .jsonl, .json, .xml,
.pubtator) or --format determines the format. Output: the same documents with annotations. BioC and PubTator
keep their format; text and JSON lines become JSON lines. A file whose name also ends with .gz is compressed.
Of several files, or of a folder, --output is the folder to write. `-` is the standard input (with --format)
or output. All files are UTF-8; offsets count characters, starting after a byte-order mark if there is one.
The same input gives the same bytes; if the program is killed, it leaves no partial output file.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # as in scripts/pretrain.py

from pubmill.errors import PubmillError, run
from pubmill.messages.counted_nouns import counted
from pubmill.messages.progress import report_progress
from pubmill.storage.privacy import keep_private, write_label_beside

FORMATS = ("text", "jsonl", "bioc-json", "bioc-xml", "pubtator")


def main() -> None:
    parser = argparse.ArgumentParser(description="Annotate new text with a kept task model.")
    parser.add_argument("--model", type=Path, required=True, help="task model folder")
    parser.add_argument("--input", type=Path, nargs="+", required=True, help="files, or folders of them")
    parser.add_argument(
        "--output", type=Path, required=True, help="file to write; of several files the folder"
    )
    parser.add_argument("--format", choices=FORMATS, help="format of the input (default: from its name)")
    parser.add_argument(
        "--punkt", type=Path, help="NLTK's punkt_tab.zip: predict by sentence instead of by line"
    )
    parser.add_argument(
        "--confidences", action="store_true", help="add the model's probability to each prediction"
    )
    parser.add_argument(
        "--type", action="extend", nargs="+", default=[], metavar="TYPE", help="predict only these types"
    )
    parser.add_argument(
        "--map",
        action="extend",
        nargs="+",
        default=[],
        metavar="OLD=NEW",
        help="write a type under another name",
    )
    arguments = parser.parse_args()
    if arguments.input == [Path("-")] and not arguments.format:
        raise PubmillError("the standard input has no name; name its format with --format")
    keep_private([arguments.model, *arguments.input])

    # Imported only after the arguments are checked: importing torch takes seconds.
    from pubmill.finetuning.predicting import choose_device
    from pubmill.finetuning.task_models import load_task_model, read_facts
    from pubmill.prediction.annotating import Annotator, own_types, written_names
    from pubmill.prediction.formats import (
        STREAM,
        annotate_file,
        check_targets,
        format_of,
        targets,
        without_streams,
    )
    from pubmill.prediction.text_units import load_splitter

    with without_streams(arguments.input, arguments.output) as (sources, output):
        files = targets(sources, output)
        keep_private([arguments.model, *files])  # of a folder, the label is beside each file
        forms = {source: arguments.format or format_of(source) for source in files}
        check_targets(files, forms)
        split = load_splitter(arguments.punkt)
        predictor = load_task_model(arguments.model, choose_device())
        names = written_names(own_types(predictor), arguments.type, arguments.map)
        pairs = read_facts(arguments.model)["argument_types"]
        annotator = Annotator(predictor, pairs, split, names, arguments.confidences)
        for number, (source, target) in enumerate(files.items(), 1):
            write_label_beside(target)
            annotate_file(annotator, source, target, forms[source])
            if len(files) > 1:
                print(f"{number}/{len(files)} {target}", file=sys.stderr)
    for what, number in sorted(annotator.counts.items()):
        if number:
            print(f"{what.replace('_', ' ')}: {number}", file=sys.stderr)
    if str(arguments.output) != STREAM:
        report_progress(f"annotated {counted(len(files), 'file')}; written to {arguments.output}")


if __name__ == "__main__":
    run(main)
