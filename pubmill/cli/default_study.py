"""The study that a verb means when `--study` names none."""

from collections.abc import Sequence
from pathlib import Path

from pubmill.cli.studies import configuration, paths, study_files, study_names
from pubmill.errors import PubmillError
from pubmill.messages.installation import root
from pubmill.messages.progress import report_progress
from pubmill.messages.wording import unknown
from pubmill.specs import strict_yaml
from pubmill.specs.study import DEMO


def study_of_words(
    study: str | None, table: str, configfiles: Sequence[str] | None, settings: Sequence[str] | None
) -> str:
    """Return the study that is named, or the one that a table's name stands for.

    If several studies have the table, those with its finished results come first, then its paper's own study,
    then the demo; the choice is reported. A `PubmillError` if none has it, or if several papers may be meant.
    """
    if study is not None:
        return study
    there = [(one, name) for one in study_names() for name in _tables(one)]
    pairs = [(one, name) for one, name in there if table in (name, name.rpartition("/")[2])]
    if not pairs:
        known = dict.fromkeys(name for _, name in there)
        raise PubmillError(f"{unknown('table', table, known)}. Name another study's file with --study")
    made = []
    for one, name in pairs:
        config = configuration([*study_files(one), *(configfiles or ())], settings)
        if Path(paths(config).table(name, "json")).is_file():
            made.append((one, name))
    if len(named := sorted({name for _, name in made or pairs})) > 1:
        raise PubmillError(f"{table} may be {' or '.join(named)}; write the paper too")
    paper = named[0].partition("/")[0]
    chosen = min((one for one, _ in made or pairs), key=lambda one: (one != paper, one != DEMO))
    if len(pairs) > 1:
        of_all = ", ".join(dict.fromkeys(one for one, name in pairs if name == named[0]))
        _report(chosen, f"{named[0]} is in {of_all}")
    return chosen


def _tables(study: str) -> list[str]:
    """Return the tables of a study as its file lists them; a file with faults has none."""
    file = [*study_files(study), str(root() / "config.yaml")][0]
    tables = strict_yaml.read(Path(file), file, []).value.get("tables")
    return list(map(str, tables)) if isinstance(tables, list) else []


def _report(study: str, why: str) -> None:
    report_progress(f"study {study} is meant ({why}); name another with --study")
