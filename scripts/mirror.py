"""List every file and model that a study needs from the network, or fetch them into a mirror.

    .venv/bin/python scripts/mirror.py STUDY [--config KEY=VALUE ...]
    .venv/bin/python scripts/mirror.py STUDY --fetch FOLDER [--config KEY=VALUE ...]

The first command prints the list; the second fetches the files and models, on a machine with a network
connection.

Inputs:  config.yaml with the study's settings, the specs, and the results; files that the results already
         have are not needed
Outputs: with --fetch, FOLDER/HOST/PATH for each URL, checked, and FOLDER/huggingface with the models. The
         same command resumes an interrupted fetch. To use the mirror, set `mirror: FOLDER` and
         HF_HUB_CACHE=FOLDER/huggingface
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import PubmillError, run
from pubmill.graph import checked_graph
from pubmill.inspection.doctor.dataset_diagnoses import merged_config
from pubmill.inspection.mirror.fetching import fetch_all, listed
from pubmill.messages.counted_nouns import counted
from pubmill.messages.progress import report_progress
from pubmill.planning.required_files import required_files
from pubmill.specs.study import check_study, configuration_files
from pubmill.workflow.jobs import jobs_of


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", help="a file, or the name of one in studies/; demo for the demo")
    parser.add_argument("--config", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    parser.add_argument("--fetch", type=Path, metavar="FOLDER", help="folder of the mirror to fill")
    arguments = parser.parse_args()
    overlays = configuration_files(arguments.study, ROOT / "studies")
    config = merged_config(ROOT / "config.yaml", overlays, arguments.config)
    # With a mirror set, a study leaves out files that the mirror lacks; exactly these are needed here.
    config["mirror"] = None
    graph = checked_graph(*check_study(config, ROOT / "specs", overlays))
    wanted = required_files((job for job in jobs_of(ROOT, config) if job.to_do), graph)
    if not any(listed(wanted)):
        report_progress(f"study {config['study']} needs nothing more from the network")
    elif arguments.fetch is None:
        print("\n".join(listed(wanted)))
    elif failed := fetch_all(wanted, arguments.fetch):
        raise PubmillError("\n".join([*failed, "Run the same command again; fetched files are kept."]))
    else:
        files, models = counted(len(wanted.urls), "file"), counted(len(wanted.models), "model")
        report_progress(f"{arguments.fetch} has all that study {config['study']} needs: {files}, {models}")


if __name__ == "__main__":
    run(main)
