"""Say which finished results are damaged, and how they are built again. Changes nothing.

Command: python scripts/fsck.py [FOLDER]
Inputs:  the results (by default the folder `results`): Parquet, gzip and .npz files, JSON with digests,
         packed tokens, checkpoints, and sources, whose records have their SHA-256
Outputs: a report on standard output; status 1 if anything is damaged
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.errors import PubmillError, run
from pubmill.inspection.damaged_results import examine, report


def main() -> None:
    parser = argparse.ArgumentParser(description="Say which finished results are damaged.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("results"), help="by default: results")
    folder = parser.parse_args().folder
    if not folder.is_dir():
        raise PubmillError(
            f"{folder} is not a folder; name the one that `results:` of the configuration names"
        )
    findings = examine(folder)
    print("\n".join(report(findings)))
    if any(finding.fault for finding in findings):
        raise SystemExit(1)


if __name__ == "__main__":
    run(main)
