"""List, or fetch into a mirror, every file and model that a study needs from the network.

    .venv/bin/python scripts/mirror.py STUDY [--config KEY=VALUE ...]
    .venv/bin/python scripts/mirror.py STUDY --fetch FOLDER [--config KEY=VALUE ...]

The first prints the list, the second fetches it, on a connected machine.

Inputs:  the study laid over config.yaml, the specs; what the results have already is needed no more
Outputs: with --fetch, FOLDER/HOST/PATH of each URL, checked, and FOLDER/huggingface with the models; an
         interrupted fetch goes on where it was. Then `mirror: FOLDER`, and HF_HUB_CACHE=FOLDER/huggingface
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import PubmillError, run
from pubmill.graph import Targets
from pubmill.inspection.doctor.datasets import merged_config
from pubmill.inspection.mirror.fetching import fetch_all, listed
from pubmill.planning.required_files import needed
from pubmill.specs.study import check_study, study_file
from pubmill.workflow.jobs import jobs_of


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", help="a file, or the name of one in studies/")
    parser.add_argument("--config", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    parser.add_argument("--fetch", type=Path, metavar="FOLDER", help="where the mirror is, or is to be")
    arguments = parser.parse_args()
    overlay = study_file(arguments.study, ROOT / "studies")
    config = merged_config(ROOT / "config.yaml", [str(overlay)], arguments.config)
    # what a mirror lacks is left out of a study; here it is what is wanted
    config["mirror"] = None
    targets = Targets(*check_study(config, ROOT / "specs"))
    wanted = needed((job for job in jobs_of(ROOT, config) if job.to_do), targets)
    if arguments.fetch is None:
        print("\n".join(listed(wanted)))
    elif failed := fetch_all(wanted, arguments.fetch):
        raise PubmillError("\n".join([*failed, "Run the same command again; what has come stays."]))


if __name__ == "__main__":
    run(main)
