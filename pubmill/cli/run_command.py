"""`pubmill run`."""

from typing import Annotated

import typer

from pubmill.cli import studies
from pubmill.cli.checkout import WORLD, checkout, make_demo_files
from pubmill.cli.run_requests import Request, writes_nothing_if_dry
from pubmill.cli.verbs import Verb


@writes_nothing_if_dry
def run(
    context: typer.Context,
    study: Annotated[
        str,
        typer.Argument(help="name or file of a study; demo for the demo", autocompletion=studies.study_names),
    ],
    why: Annotated[bool, typer.Option("--why", help="with -n: each job, and why it runs")] = False,
) -> None:
    """Run a study, or only some of its tables, and all that they need.

    With -n nothing runs: the jobs are counted by stage, with their cost, and --why adds each job with the
    reason why it runs.

    TABLES follow the study (table06, or gu2020/table06), or files of the results, then options of Snakemake:
    pubmill run gu2020 table06 -n --profile profiles/slurm
    """
    root = checkout()
    words = studies.sort_words(context.args)
    files = [*studies.study_files(study), *words.configfiles]
    config = studies.configuration(files, words.settings)
    if config["mirror"] == WORLD:
        make_demo_files()
    targets = [studies.target_of_study(name, config) for name in words.names]
    raise SystemExit(Request(root, config, files, targets).run(words, why))


VERB = Verb("Run", run, passes_on=True)
