"""`pubmill table`."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from pubmill.cli import studies
from pubmill.cli.checkout import check_new_folders, checkout, make_demo_files, save_folders
from pubmill.cli.run_requests import DRY, FAILED_CELLS, Request, writes_nothing_if_dry
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.installation import DRY_RUN
from pubmill.messages.wording import unknown
from pubmill.specs import scales, strict_yaml
from pubmill.specs.own_settings import OWN_SEARCH, read_choice_option
from pubmill.specs.study import DEMO, scale_of_table, study_of_scale
from pubmill.storage.name_patterns import SPEC, fits


@writes_nothing_if_dry
def table(
    context: typer.Context,
    name: studies.TableName,
    model: Annotated[
        list[str],
        typer.Option(help="./FOLDER, hub:GROUP/MODEL@COMMIT, or the name of a spec; may be repeated"),
    ],
    dataset: Annotated[list[str] | None, typer.Option(help="only this dataset; may be repeated")] = None,
    name_of_model: Annotated[
        str | None,
        typer.Option(
            "--name", help="of the model that is given as a folder or of the hub; by default its own"
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            help="a file in specs/scales; by default full, or that of the table's study if it has no other"
        ),
    ] = None,
    choice: Annotated[
        str | None,
        typer.Option(
            metavar="VALUES",
            help="hyper-parameters in place of a search: lr=3e-5,batch=32,epochs=20, or a file",
        ),
    ] = None,
    search: Annotated[
        Literal["protocol", "own"],
        typer.Option(help="search hyper-parameters with the protocol's models, or with your own alone"),
    ] = "protocol",
) -> None:
    """Make a table with models of your choice as columns.

    They are run on the datasets of the table. The table is made beside the study's own, in
    tables/STUDY+MODEL of the results, with the rows of these datasets; runs that both need are made once. At
    the end, the scores of the models are printed, each beside the highest published value of its row. A
    model folder or a model of the hub gets a spec, specs/models/NAME.yaml, after a check that it loads.
    Before the first job, it prints what the table costs and which jobs search for hyper-parameters; --choice
    and --search own make fewer, and their cells are not compared with published values. Options of Snakemake
    follow, for example -n, which runs nothing, or --profile profiles/gpu.
    """
    root = checkout()
    from pubmill.workflow.run_start import lock_results

    if name not in studies.table_names():
        raise PubmillError(unknown("table", name, studies.table_names()))
    scale = scale or scale_of_table(name, studies.studies_folder())
    if scale not in (known := scales(studies.specs_folder())):
        raise PubmillError(unknown("scale", scale, known))
    spec = studies.specs_folder() / "tables" / f"{name}.yaml"
    if strict_yaml.read(spec, str(spec), []).value.get("kind") == "facts":
        as_printed = commands.pubmill("run", name.partition("/")[0], name)
        raise PubmillError(f"{name} is a table of facts, in which no model is run; make it with {as_printed}")
    words = studies.sort_words(context.args)
    files = [*study_of_scale(scale, studies.studies_folder(), name), *words.configfiles]
    config = studies.configuration(files, words.settings)
    if config["scale"] != scale:
        raise PubmillError(f"no study of studies/ has the scale {scale!r}; name one with --configfile")
    if scale == DEMO:
        make_demo_files()
    names, folders = _models(model, name_of_model, config["local_files"])
    save_folders(folders)
    settings = [f"models={json.dumps(names)}", f"tables={json.dumps([name])}"]
    settings += [f"datasets={json.dumps(dataset)}"] if dataset else []
    settings += [f"local_files={json.dumps({**config['local_files'], **folders})}"] if folders else []
    own = "+".join(names)
    if choice is not None:
        if search == "own":
            raise PubmillError(
                "--choice gives the hyper-parameters that --search own would search: leave one out"
            )
        chosen_values = read_choice_option(choice)
        own += f"+{chosen_values.name}"
        settings.append(f"choice={chosen_values.model_dump_json()}")
    elif search == "own":
        own += f"+{OWN_SEARCH}"
        settings.append(f"search={search}")
    settings.append(f"own_tables={own}")
    page = studies.paths(config | {"own_tables": own}).table(name, "html")
    words = words._replace(settings=[*words.settings, *settings])
    chosen = studies.configuration(files, words.settings)
    if not DRY.intersection(words.options):
        lock_results(studies.paths(chosen).results).release()  # refused if another run holds them
    status = Request(root, chosen, files, [page]).run(words)
    if status in (0, FAILED_CELLS) and DRY_RUN not in os.environ:
        from pubmill.tables.cells import read_table
        from pubmill.tables.verdicts import own_lines

        print("\n".join(own_lines(read_table(Path(page).with_suffix(".json")), len(names))))
    raise SystemExit(status)


def _models(
    given: list[str], name: str | None, known_folders: dict[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Return the names of models, and the folders of those given as folders; write missing specs. `name` is
    that of the only one that is a folder or of the hub."""
    names: list[str] = []
    new = 0
    folders: dict[str, str] = {}
    for model in given:
        if fits(SPEC, model) and (studies.specs_folder() / "models" / f"{model}.yaml").is_file():
            names.append(model)
            continue
        if not model.startswith("hub:") and not Path(model).is_dir() and "/" not in model:
            known = [path.stem for path in (studies.specs_folder() / "models").glob("*.yaml")]
            raise PubmillError(f"{unknown('model', model, known)}. A folder is given as ./{model}")
        from pubmill.new_specs.new_model import new_model, write_spec  # Imports torch, which takes seconds.

        described = new_model(model, name, datasets=studies.dataset_names())
        new += 1
        if name and new > 1:
            raise PubmillError("--name is for one model, but several are given as folders or of the hub")
        check_new_folders(described.local_files, known_folders | folders)
        written = "would be" if DRY_RUN in os.environ else "is"
        spec = write_spec(described, studies.OWN_SPECS)
        print(f"{model} {written} described in {spec}", file=sys.stderr)
        checkout()  # a workspace gets the new spec
        names.append(described.name)
        folders |= described.local_files
    if name and not new:
        raise PubmillError("--name is for a model that is given as a folder or of the hub; there is none")
    return names, folders


VERB = Verb("Run", table, passes_on=True)
