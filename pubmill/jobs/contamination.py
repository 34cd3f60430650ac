"""Report which texts of datasets a corpus holds, from the matches found in each part: for each dataset and
split the number of texts, how many were found and how, and the ids of their examples and documents; no
text."""

from pathlib import Path

from pubmill.corpus.contamination import report
from pubmill.storage.files import sealed, write_json
from pubmill.storage.parquet import access_of_parts, part_files
from pubmill.storage.privacy import keep_private


def main(corpus: str, index: Path, found: Path, parts: int, output: Path) -> None:
    keep_private([], access_of_parts([index]))
    made = report(corpus, index, [path.with_suffix(".json") for path in part_files(found, parts)])
    write_json(output, sealed(made))
    print(f"{made['documents_with_a_text']} of {made['documents']} documents contain a text of a dataset")
