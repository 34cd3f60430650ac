"""Studies and tables as words of the command line, and the configuration that they stand for."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pubmill.errors import PubmillError
from pubmill.messages.installation import root
from pubmill.messages.progress import report_progress
from pubmill.messages.wording import unknown
from pubmill.specs import strict_yaml
from pubmill.specs.configuration import merged_config
from pubmill.specs.loading import with_base
from pubmill.specs.own_settings import OWN_SEARCH, read_choice_option
from pubmill.specs.study import DEMO, configuration_files, study_of_scale
from pubmill.storage.result_paths import Paths, paths_of_scale

if TYPE_CHECKING:
    from pubmill.stages import Graph
    from pubmill.stages.gpus import Gpus

FULL = Path("results/full")
OWN_SPECS = Path("specs")
"""Where new specs are written: among those of a checkout, or one's own of a workspace."""


def specs_folder() -> Path:
    """Return the folder of the specs in use, relative to the current folder."""
    return root() / "specs"


def measured_gpus() -> "Gpus":
    """Return the speeds of GPUs that are specified and measured."""
    from pubmill.stages.gpus import read_gpus

    return read_gpus(specs_folder(), root() / "benchmarks")


def studies_folder() -> Path:
    """Return the folder of the studies in use, relative to the current folder."""
    return root() / "studies"


class Words(NamedTuple):
    """Words after a verb. `names` come first; `configfiles` and `settings` are those of `--configfile` and
    `--config`; `options` are all others, which belong to the program."""

    names: list[str]
    configfiles: list[str]
    settings: list[str]
    options: list[str]


def sort_words(words: Sequence[str] | None) -> Words:
    """Sort the words after a verb: names up to the first option, then options."""
    given = list(words or ())
    options = (place for place, word in enumerate(given) if word.startswith("-") and word != "-")
    first = next(options, len(given))
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", action="extend", default=[])
    parser.add_argument("--config", "-C", nargs="+", action="extend", default=[])
    known, others = parser.parse_known_args(given[first:])
    return Words(given[:first], known.configfile, known.config, others)


def study_files(study: str) -> list[str]:
    """Return the configuration files of a study, given by name or path; none for the demo."""
    return configuration_files(study, studies_folder())


def study_names() -> list[str]:
    """Return the names of all studies, for the completion of a word."""
    return [DEMO, *sorted(path.stem for path in studies_folder().glob("*.yaml"))]


def spec_names(kind: str) -> list[str]:
    """Return the names of all `tables`, `datasets` or `models`, also for the completion of a word."""
    folder = specs_folder() / kind
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.yaml"))


StudyName = Annotated[str, typer.Argument(help="name or file of a study", autocompletion=study_names)]
AnyStudy = Annotated[
    str | None,
    typer.Option(
        help="study whose results are used; by default, one that has what is named",
        autocompletion=study_names,
    ),
]
TableName = Annotated[
    str, typer.Argument(help="for example gu2020/table06", autocompletion=lambda: spec_names("tables"))
]
Configfiles = Annotated[
    list[str] | None, typer.Option(metavar="FILE", help="settings over those of the study; may be repeated")
]
Settings = Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="settings; may be repeated")]
DatasetName = Annotated[
    str, typer.Argument(help="for example chemprot@blurb", autocompletion=lambda: spec_names("datasets"))
]
Prompts = Annotated[str, typer.Option(help="prompts, a file in specs/prompts")]
Results = Annotated[Path, typer.Option(help="results of a scale")]


def configuration(configfiles: Sequence[str], settings: Sequence[str] | None) -> dict[str, Any]:
    """Return the configuration that Snakemake builds from these files and settings."""
    return merged_config(root() / "config.yaml", configfiles, settings or ())


def configured_graph(study: str, configfiles: list[str] | None, settings: list[str] | None) -> "Graph":
    """Return the graph of a study with further configuration files and settings."""
    from pubmill.specs.study import check_study
    from pubmill.stages import Graph

    files = [*study_files(study), *(configfiles or ())]
    return Graph(*check_study(configuration(files, settings), specs_folder(), files))


def table_of_study(name: str, config: dict[str, Any]) -> str:
    """Return the full name of a table of a study: `table06` stands for `gu2020/table06` if no other paper's
    table of the study has this number."""
    study, tables = config["study"], [str(table) for table in config["tables"]]
    matches = [table for table in tables if name in (table, table.rpartition("/")[2])]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise PubmillError(f"{name} may be {' or '.join(matches)}; write the paper too")
    if name in spec_names("tables"):
        raise PubmillError(f"study {study} has no table {name}: add it to `tables:`, or name another study")
    raise PubmillError(f"study {study}: {unknown('table', name, tables)}")


def study_of_words(
    study: str | None, table: str, configfiles: Sequence[str] | None, settings: Sequence[str] | None
) -> str:
    """Return the study that is named, or the one that a table's name stands for.

    If several studies have the table, those with its finished results come first, then its paper's own study,
    then the demo; the choice is reported. A `PubmillError` if none has it, or if several papers may be meant.
    """
    if study is not None:
        return study
    there = []
    for one in study_names():
        file = Path([*study_files(one), str(root() / "config.yaml")][0])
        listed = strict_yaml.read(file, str(file), []).value.get("tables")
        there += [(one, str(name)) for name in listed] if isinstance(listed, list) else []
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
        report_progress(f"study {chosen} is meant ({named[0]} is in {of_all}); name another with --study")
    return chosen


def with_added_model(
    study: str | None, table: str, names: Sequence[str], settings: Sequence[str] | None
) -> tuple[str | None, list[str]]:
    """Return the study and settings of a cell whose row or column may be a model that the table's spec lacks:
    those of the newest table that `pubmill table` made with it, if no study is named; else those given, with
    the model added."""
    given = list(settings or ())
    models = spec_names("models")
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


def target_of_study(name: str, config: dict[str, Any]) -> str:
    """Return a file of the results as it is given, the file beside the report that a stage's word requests,
    or the page of the table that a name stands for."""
    from pubmill.stages.stage import requested_reports

    if name.startswith(f"{config['results']}/"):
        return name
    if ending := requested_reports().get(name):
        return paths(config).report(config["study"], ending)
    return paths(config).table(table_of_study(name, config), "html")


def paths(config: dict[str, Any]) -> Paths:
    return paths_of_scale(config["scale"], config["results"], config["study"], config["own_tables"])
