"""The study that a verb means when `--study` names none."""

import json
from collections.abc import Sequence
from pathlib import Path

from pubmill.cli.studies import (
    configuration,
    paths,
    specs_folder,
    studies_folder,
    study_files,
    study_names,
)
from pubmill.errors import PubmillError
from pubmill.messages.installation import root
from pubmill.messages.progress import report_progress
from pubmill.messages.wording import unknown
from pubmill.specs import strict_yaml
from pubmill.specs.loading import with_base
from pubmill.specs.own_settings import OWN_SEARCH, read_choice_option
from pubmill.specs.study import DEMO, study_of_scale
from pubmill.storage.result_paths import Paths


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


def with_added_model(
    study: str | None, table: str, names: Sequence[str], settings: Sequence[str] | None
) -> tuple[str | None, list[str]]:
    """Return the study and settings of a cell whose row or column may be a model that the table's spec lacks:
    those of the newest table that `pubmill table` made with it, if no study is named; else those given, with
    the model added."""
    given = list(settings or ())
    models = [path.stem for path in specs_folder().glob("models/*.yaml")]
    spec, _ = with_base(specs_folder() / f"tables/{table}.yaml", table, [], "tables")
    columns = [one for one in spec.value.get("columns") or () if isinstance(one, dict)]
    known = {one.get(key) for one in columns for key in ("key", "model")}
    is_facts = spec.value.get("kind") == "facts"
    added = [name for name in names if name in models and name not in known and not is_facts]
    if not added or any(setting.startswith("models=") for setting in given):
        return study, given
    results = Path(configuration([], given)["results"])
    folders = [path for path in results.glob("*/tables/*+*") if added[0] in path.name.split("+")[1:]]
    made = [
        path for path in folders if Path(Paths(path.parents[1], path.name).table(table, "json")).is_file()
    ]
    if study is not None or not (made or folders):
        return study, [*given, f"models={json.dumps(added)}"]
    folder = max(made or folders, key=lambda path: path.stat().st_mtime)
    made_in, _, own_name = folder.name.partition("+")
    parts = own_name.split("+")
    shown, suffix = [one for one in parts if one in models], [one for one in parts if one not in models]
    more = [f"models={json.dumps(shown)}", f"tables={json.dumps([table])}", f"own_tables={own_name}"]
    if suffix == [OWN_SEARCH]:
        more.append("search=own")
    elif suffix and not all("=" in part for part in suffix):
        raise PubmillError(
            f"{folder} was made with --choice FILE ({'+'.join(suffix)}), whose values are not in its name; "
            f"give them: --config {more[0]} choice={{name: ..., source: ..., values: ...}}"
        )
    elif suffix:
        more.append(f"choice={read_choice_option(','.join(suffix)).model_dump_json()}")
    report_progress(f"{added[0]} is a column of the tables in {folder}")
    files = study_of_scale(folder.parts[-3], studies_folder(), made_in)
    return (files[0] if files else DEMO), [*given, *more]


def _tables(study: str) -> list[str]:
    """Return the tables of a study as its file lists them; a file with faults has none."""
    file = [*study_files(study), str(root() / "config.yaml")][0]
    tables = strict_yaml.read(Path(file), file, []).value.get("tables")
    return list(map(str, tables)) if isinstance(tables, list) else []


def _report(study: str, why: str) -> None:
    report_progress(f"study {study} is meant ({why}); name another with --study")
