"""`pubmill mirror`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import Settings, StudyName, configuration, specs_folder, study_files
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages.progress import report_progress
from pubmill.messages.wording import counted


def mirror(
    study: StudyName,
    fetch: Annotated[Path | None, typer.Option(metavar="FOLDER", help="folder of the mirror to fill")] = None,
    config: Settings = None,
) -> None:
    """List the files and models that a study needs from the network.

    With --fetch they are fetched into FOLDER/HOST/PATH and FOLDER/huggingface and checked; the same command
    resumes an interrupted fetch. To use the mirror, set `mirror: FOLDER` and HF_HUB_CACHE=FOLDER/huggingface.
    Files that the results already have are not needed.
    """
    root = checkout()
    from pubmill.inspection.mirror.fetching import fetch_all, listed
    from pubmill.planning.plan import jobs_of_study
    from pubmill.planning.required_files import required_files
    from pubmill.specs.study import check_study
    from pubmill.stages import checked_graph

    overlays = study_files(study)
    # With a mirror set, a study leaves out files that the mirror lacks; exactly these are needed here.
    merged = configuration(overlays, config) | {"mirror": None}
    graph = checked_graph(*check_study(merged, specs_folder(), overlays))
    wanted = required_files((job for job in jobs_of_study(root, merged) if job.to_do), graph)
    if not any(listed(wanted)):
        report_progress(f"study {merged['study']} needs nothing more from the network")
    elif fetch is None:
        print("\n".join(listed(wanted)))
    elif failed := fetch_all(wanted, fetch):
        raise PubmillError("\n".join([*failed, "Run the same command again; fetched files are kept."]))
    else:
        files, models = counted(len(wanted.urls), "file"), counted(len(wanted.models), "model")
        report_progress(f"{fetch} has all that study {merged['study']} needs: {files}, {models}")


VERB = Verb("Data and predictions", mirror)
