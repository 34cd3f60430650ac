"""Annotate a file in any supported format, or predict JSON lines in the form of a dataset's examples."""

import gzip
import io
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from pubmill.errors import PubmillError
from pubmill.examples.kind_facts import FACTS
from pubmill.examples.kinds import Example
from pubmill.finetuning.tasks.task import Task
from pubmill.formats.document_files import ENTITIES, FORMATS, SUFFIXES, suffix_of
from pubmill.formats.json_text import json_line, read_rows
from pubmill.formats.text_files import GZIP, check_characters
from pubmill.messages.progress import with_counts
from pubmill.messages.wording import repeated
from pubmill.prediction.annotating import Annotator, own_types
from pubmill.recipes import build
from pubmill.storage.files import writing

STREAM = "-"
TOGETHER = 1000
"""Number of rows predicted together."""


def targets(sources: Sequence[Path], output: Path) -> dict[Path, Path]:
    """Return the file to write for each file to read. A single file is written to `output`. Of several files,
    or of a folder with its files of known formats, `output` is the folder, in which each keeps its name."""
    if len(sources) == 1 and not sources[0].is_dir():
        return {sources[0]: output}
    paths: list[Path] = []
    for one in sources:
        files = [one]
        if one.is_dir():
            files = [path for path in sorted(one.iterdir()) if path.is_file() and suffix_of(path) in SUFFIXES]
        if not files:
            raise PubmillError(f"{one}: no file ends with {', '.join(SUFFIXES)} or one of these and {GZIP}")
        paths += files
    names = [path.name for path in paths]
    if twice := repeated(names):
        raise PubmillError(f"several files are named {', '.join(twice)}; annotate their folders one by one")
    return {path: output / path.name for path in paths}


def check_targets(files: Mapping[Path, Path], forms: Mapping[Path, str]) -> None:
    """Raise a `PubmillError` for an output that would replace its input, or whose suffix implies a format
    other than the one written, text, and the one of its input's suffix. `forms`: input -> its format."""
    for source, target in files.items():
        if target.resolve() == source.resolve():
            raise PubmillError(f"{source}: the output would replace this input; name another file or folder")
        written = forms[source] if forms[source] in ENTITIES else "jsonl"
        implied = SUFFIXES.get(suffix_of(target))
        if implied not in (None, "text", written, SUFFIXES.get(suffix_of(source))):
            ending = next(suffix for suffix, form in SUFFIXES.items() if form == written)
            raise PubmillError(
                f"{target}: this name implies {implied}, but {forms[source]} is annotated as {written}; name "
                f"the output *{ending}"
            )


@contextmanager
def without_streams(sources: Sequence[Path], output: Path) -> Iterator[tuple[list[Path], Path]]:
    """Yield the paths to read and to write, with a temporary file in the place of `-`, the standard input or
    output; what is written for the output is printed at the end."""
    if STREAM in map(str, sources) and len(sources) > 1:
        raise PubmillError("`-`, the standard input, must be the only input")
    with TemporaryDirectory() as folder:
        received, made = Path(folder) / "stdin", Path(folder) / "stdout"
        if STREAM in map(str, sources):
            with received.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
            sources = [received]
        elif str(output) == STREAM and (len(sources) > 1 or sources[0].is_dir()):
            raise PubmillError("several files can't be written to `-`, the standard output; name a folder")
        yield list(sources), made if str(output) == STREAM else output
        if str(output) == STREAM:
            try:
                with made.open("rb") as content:
                    shutil.copyfileobj(content, sys.stdout.buffer)
                sys.stdout.flush()
            except BrokenPipeError:  # as with `| head`; Python must not fail again when it flushes at exit
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _written(path: Path, name: str) -> IO[str]:
    """Open a file for text, compressed if `name` ends with `.gz`; the same text gives the same bytes."""
    if not name.endswith(GZIP):
        return path.open("w", encoding="utf-8", newline="\n")
    packed = gzip.GzipFile(path, "wb", mtime=0)
    return io.TextIOWrapper(packed, encoding="utf-8", newline="\n")


def annotate_file(annotator: Annotator, source: Path, target: Path, form: str) -> None:
    """Write the documents or rows of `source`, with the model's predictions, to `target`."""
    kind = annotator.predictor.recipe.task
    # The first row says whether there are words, which are used without tokenization, instead of text.
    first = islice(read_rows(source), 1)
    rows = form == "jsonl" and (kind != "tokens" or any("words" in row for _, row in first))
    if not rows and kind != "tokens" and not (kind == "sequence" and annotator.pairs and form in ENTITIES):
        further = "; relations are also predicted between mentions in BioC and PubTator"
        raise PubmillError(
            f"{source}: this model ({kind}) reads JSON lines in the form of its dataset's examples "
            f"(--format jsonl){further if annotator.pairs else ''}"
        )
    if rows and annotator.names != {kind: kind for kind in own_types(annotator.predictor)}:
        raise PubmillError(
            f"{source}: --type and --map are for mentions and relations in documents, not for rows"
        )
    try:
        with writing(target) as temporary, _written(temporary, target.name) as output:
            if rows:
                lines = map(json_line, predict_rows(annotator, source))
                output.writelines(with_counts(lines, "rows predicted"))
            else:
                file = FORMATS[form](source)
                file.write(with_counts(annotator.annotate(file.documents()), "documents annotated"), output)
    except UnicodeEncodeError:
        raise PubmillError(
            f"{source}: contains half of a surrogate pair (such as `\\ud83d` alone in JSON), which is not a "
            "character; correct it"
        ) from None


def predict_rows(annotator: Annotator, path: Path) -> Iterator[dict[str, object]]:
    task = annotator.predictor.task
    rows = read_rows(path)
    while some := [example_of(row, task, where) for where, row in islice(rows, TOGETHER)]:
        for example, (predicted, confidence) in zip(some, annotator.predict(some), strict=True):
            row = task.row(example, predicted)
            yield row if confidence is None else {**row, "confidence": confidence}


def example_of(row: dict[str, Any], task: Task[Any], where: str) -> Example:
    """Return the example in a row; any labels in the row are ignored."""
    kind = task.recipe.task
    words = row.get("words")
    placeholders: dict[str, Any] = {
        "label": task.labels[0] if task.labels else "",
        "labels": ["O"] * len(words) if isinstance(words, list) else [],
        "score": 0.0,
        **{name: [] for name in ("answers", "relations", "mentions")},
        "layers": {},
    }
    own = {one.name: placeholders[one.name] for one in fields(task.kind) if one.name in placeholders}
    values = {"document": None, **row, **own}
    try:
        if "sentences" in values:
            values["sentences"] = [{"labels": [], **item} for item in values["sentences"]]
        example = build(task.kind, values, where)
    except (PubmillError, TypeError, AttributeError):  # their messages may contain text
        raise PubmillError(f"{where}: a row for this model ({kind}) needs {FACTS[kind].row}") from None
    if fault := example.fault():
        raise PubmillError(f"{where}: {fault}")
    check_characters(repr(values), where)
    return example
