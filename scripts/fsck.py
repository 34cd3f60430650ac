"""Report which finished results are damaged, and the command that builds them again. Changes nothing.

Command: .venv/bin/python scripts/fsck.py [FOLDER]
Inputs:  the results (by default the folder `results`): Parquet, gzip and .npz files, JSON with digests,
         packed tokens, checkpoints, and source files, whose SHA-256 is in their records
Outputs: a report on standard output; status 1 if anything is damaged
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.errors import PubmillError, run
from pubmill.inspection.damaged_results import examine, report


def main() -> None:
    parser = argparse.ArgumentParser(description="Report which finished results are damaged.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("results"), help="default: results")
    folder = parser.parse_args().folder
    if not folder.is_dir():
        raise PubmillError(
            f"{folder} is not a folder; give the folder that is set as `results:` in the configuration"
        )
    findings = examine(folder)
    print("\n".join(report(findings)))
    if any(finding.fault for finding in findings):
        raise SystemExit(1)


if __name__ == "__main__":
    run(main)
