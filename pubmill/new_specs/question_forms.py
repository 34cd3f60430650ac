"""The form of BioASQ's files of questions, by the type of question that is read."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from pubmill.convert import bioasq
from pubmill.errors import PubmillError
from pubmill.formats.document_files import ARCHIVES
from pubmill.new_specs.file_forms import FileForm
from pubmill.storage.archives import members

QUESTION_READINGS = {"list": "list_questions", "factoid": "factoid"}
"""Value of --as -> the converter of these questions. Yes/no questions need a list of those of dev."""
_METRICS = {"list": "list_f1", "factoid": "mrr"}


def are_questions(path: Path) -> bool:
    """Return whether a file, or the first of an archive, is BioASQ's JSON: questions with a type."""
    if path.name.endswith(ARCHIVES):
        contents = (content[:100_000] for name, content in members(path) if bioasq.is_json(name))
        start = next(contents, b"")
    elif path.suffix == ".json":
        with path.open("rb") as file:
            start = file.read(100_000)
    else:
        return False
    return start.lstrip().startswith(b"{") and all(key in start for key in (b'"questions"', b'"type"'))


def questions_form(files: Mapping[str, Path], reading: str | None) -> FileForm:
    """Return the form of the questions that `reading` names, or of the only type that can be read."""
    first = next(iter(files.values()))
    types = Counter[str](
        one.type for path in files.values() for one in bioasq.questions(path, Counter()).values()
    )
    readings = {one: f"{types[one]} {one} questions" for one in QUESTION_READINGS if types[one]}
    if reading is None and len(readings) > 1:
        ways = " or ".join(f"--as {one} ({what})" for one, what in readings.items())
        raise PubmillError(f"{first}: BioASQ's questions of several types; choose one: {ways}")
    chosen = reading or next(iter(readings), None)
    if chosen not in readings:
        met = ", ".join(f"{n} {one}" for one, n in sorted(types.items())) or "none at all"
        raise PubmillError(
            f"{first}: no {chosen or 'list or factoid'} questions in these files; they have: {met}. "
            "For yes/no questions, write a spec like that of bioasq-yesno, which names the questions of dev"
        )
    converter = f"pubmill.convert.bioasq:{QUESTION_READINGS[chosen]}"
    others = {one: what for one, what in readings.items() if one != chosen}
    return FileForm("span", chosen, _METRICS[chosen], converter, others=others)
