"""`pubmill track`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import Configfiles, Settings, StudyName, configured_graph
from pubmill.cli.verbs import Verb


def track(
    study: StudyName,
    mlflow: Annotated[
        str, typer.Option(metavar="URI", help="tracking server, or sqlite:///FILE")
    ] = "sqlite:///results/mlflow.db",
    configfile: Configfiles = None,
    config: Settings = None,
) -> None:
    """Write the scored runs of a study into MLflow.

    Each run has its recipe, scores, training loss by epoch and dev scores by step. The command can be
    repeated: only new and changed runs are written. MLflow is not among the locked packages.
    """
    checkout()
    from pubmill.extras.tracking.tracked_runs import MlflowRuns, tracked_run

    graph = configured_graph(study, configfile, config)
    asked = {path for table in graph.requests.result_tables() for path in graph.tables.record_files(table)}
    there = sorted(path for path in asked if Path(path).is_file())
    store = MlflowRuns(mlflow, f"pubmill {graph.study.study} {graph.study.scale}")
    below = [Path(path).relative_to(graph.results).as_posix() for path in there]
    written = sum(store.add(tracked_run(Path(graph.results), path)) for path in below)
    print(
        f"{written} runs written, {len(there) - written} were there, {len(asked) - len(there)} not finished"
    )


VERB = Verb("Data and predictions", track)
