"""List the PubMed files on the server, as YAML for a corpus spec.

    .venv/bin/python scripts/list_pubmed.py [--mirror DIR] [--base URL]

Inputs: the listings of URL/baseline and URL/updatefiles, over HTTPS or in DIR/HOST/PATH.
Output: on standard output, YAML for `files:` of a source in specs/corpora; comments state the number and
bytes of files, gaps in their numbers, and files without an md5.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.errors import PubmillError, run
from pubmill.storage.listings import PubmedYear, list_folder, pubmed_years


def describe(folder: str, year: PubmedYear) -> list[str]:
    known = [size for size in year.sizes if size is not None]
    unknown = f", {len(year.sizes) - len(known)} of unknown size" * (len(known) < len(year.sizes))
    lines = [
        f"  # {folder} 20{year.year:02d}: {len(year.numbers)} files, {sum(known) / 1e6:,.1f} MB{unknown}"
    ]
    if gaps := year.gaps():
        lines.append(f"  # not there: {', '.join(gaps)}")
    if year.without_md5:
        lines.append(f"  # without md5: {', '.join(year.without_md5)}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mirror", help="folder that holds HOST/PATH, used instead of the network")
    parser.add_argument(
        "--base", default="https://ftp.ncbi.nlm.nih.gov/pubmed", help="URL of the folder with both folders"
    )
    args = parser.parse_args()
    lines = ["files:"]
    for folder in ("baseline", "updatefiles"):
        url = f"{args.base.rstrip('/')}/{folder}/"
        years = pubmed_years(list_folder(url, args.mirror))
        if not years:
            raise PubmillError(f"{url} lists no file named pubmedYYnNNNN.xml.gz")
        lines += [line for year in years for line in describe(folder, year)]
        lines.append(f"  {folder}: [{', '.join(span for year in years for span in year.ranges())}]")
    print("\n".join(lines))


if __name__ == "__main__":
    run(main)
