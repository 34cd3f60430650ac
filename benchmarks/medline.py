"""Speed and memory of reading PubMed's XML: pubmed_parser and pubmill, turn by turn.

    python benchmarks/medline.py [--quick]

A file of made-up citations, shaped and sized like PubMed's own, is written from a seed. Each turn
reads it in a fresh process, with each program after the other. Ratios are of medians of the
processor time; `memory` is the highest resident size of pubmill against pubmed_parser.
"""

import argparse
import gzip
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def citations(count: int, seed: int) -> Iterator[str]:
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefghilmnoprstuvy", k=draw.randint(2, 12))) for _ in range(5000)]

    def prose(length: int) -> str:
        return " ".join(draw.choices(words, k=length))

    for pmid in range(1, count + 1):
        sections = "".join(
            f'<AbstractText Label="{label}" NlmCategory="{label}">{prose(45)} '
            f"<i>x<sub>2</sub></i> {prose(9)}.</AbstractText>"
            for label in ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS")
        )
        authors = "".join(
            f'<Author ValidYN="Y"><LastName>{prose(1)}</LastName><ForeName>{prose(1)}</ForeName>'
            f"<Initials>A</Initials><AffiliationInfo><Affiliation>{prose(14)}</Affiliation></AffiliationInfo></Author>"
            for _ in range(draw.randint(1, 9))
        )
        mesh = "".join(
            f'<MeshHeading><DescriptorName UI="D00{n}" MajorTopicYN="N">{prose(2)}</DescriptorName>'
            "</MeshHeading>"
            for n in range(10)
        )
        references = "".join(
            f"<Reference><Citation>{prose(12)}</Citation><ArticleIdList>"
            f"<ArticleId IdType='pubmed'>{n}</ArticleId></ArticleIdList></Reference>"
            for n in range(draw.randint(0, 24))
        )
        yield (
            f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{pmid}</PMID>'
            "<DateRevised><Year>2025</Year><Month>11</Month><Day>02</Day></DateRevised>"
            "<Article PubModel='Print'><Journal><ISSN IssnType='Print'>0000-0000</ISSN>"
            f"<JournalIssue CitedMedium='Print'><Volume>1</Volume>"
            "<PubDate><Year>2001</Year></PubDate></JournalIssue>"
            f"<Title>{prose(4)}</Title></Journal>"
            f"<ArticleTitle>{prose(12)}.</ArticleTitle><Abstract>{sections}</Abstract><AuthorList>{authors}</AuthorList>"
            "<Language>eng</Language><PublicationTypeList><PublicationType UI='D016428'>Journal Article"
            "</PublicationType></PublicationTypeList></Article><MedlineJournalInfo><Country>England</Country>"
            f"<MedlineTA>{prose(2)}</MedlineTA></MedlineJournalInfo><MeshHeadingList>{mesh}</MeshHeadingList>"
            f"</MedlineCitation><PubmedData><ReferenceList>{references}</ReferenceList></PubmedData></PubmedArticle>\n"
        )


def write(path: Path, count: int) -> int:
    """Write the file; give its size before packing, in bytes."""
    size = 0
    with gzip.open(path, "wt", compresslevel=1) as file:
        size += file.write('<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n')
        size += sum(map(file.write, citations(count, seed=1)))
        size += file.write("</PubmedArticleSet>\n")
    return size


def pubmed_parser(path: Path) -> int:
    from pubmed_parser import parse_medline_xml

    return sum(1 for _ in parse_medline_xml(str(path)))


def pubmill(path: Path) -> int:
    from pubmill.corpus.medline import read_medline

    return sum(1 for _ in read_medline(path))


def pubmill_to_shard(path: Path) -> int:
    from pubmill.corpus.medline import read_medline
    from pubmill.corpus.shards import write_shard

    shard = path.with_name("shard.parquet")
    return write_shard(shard, read_medline(path), source="p", file=path.name, order=1).citations


READERS: dict[str, Callable[[Path], int]] = {
    "pubmed_parser": pubmed_parser,
    "pubmill": pubmill,
    "pubmill_to_shard": pubmill_to_shard,
}


def measure(reader: str, path: Path) -> tuple[float, int, int]:
    """Read in a fresh process: seconds of processor time, highest resident size in kB, citations."""
    job = subprocess.run(
        [sys.executable, __file__, "--read", reader, str(path)], check=True, capture_output=True, text=True
    )
    seconds, size, found = job.stdout.split()
    return float(seconds), int(size), int(found)


def read(reader: str, path: Path) -> None:
    READERS[reader](path.with_name("small.xml.gz"))  # imports and first use are not what is measured
    start = time.process_time()
    found = READERS[reader](path)
    used = time.process_time() - start
    print(used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, found)


def main() -> None:
    parser = argparse.ArgumentParser(description="Reading PubMed's XML: pubmed_parser and pubmill.")
    parser.add_argument("--quick", action="store_true", help="a smaller file, within a minute")
    parser.add_argument("--read", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        read(arguments.read[0], Path(arguments.read[1]))
        return
    count, turns = (4_000, 3) if arguments.quick else (30_000, 5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pubmed26n0001.xml.gz")
        write(path.with_name("small.xml.gz"), 10)
        size = write(path, count)
        print(f"{count} citations, {size / 1e6:.0f} MB, {turns} turns")
        runs = [{reader: measure(reader, path) for reader in READERS} for _ in range(turns)]
    seconds, memory = {}, {}
    for reader in READERS:
        seconds[reader] = statistics.median(run[reader][0] for run in runs)
        memory[reader] = max(run[reader][1] for run in runs)
        assert all(run[reader][2] == count for run in runs), f"{reader} lost citations"
        print(f"{reader}: {size / 1e6 / seconds[reader]:.0f} MB/s, {memory[reader] / 1024:.0f} MB resident")
    print(f"speed: {seconds['pubmed_parser'] / seconds['pubmill']:.2f}")
    print(f"speed to shard: {seconds['pubmed_parser'] / seconds['pubmill_to_shard']:.2f}")
    print(f"memory: {memory['pubmill'] / memory['pubmed_parser']:.2f}")


if __name__ == "__main__":
    main()
