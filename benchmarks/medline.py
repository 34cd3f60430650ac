"""Speed and memory of reading PubMed's XML: pubmed_parser, lxml and pubmill in alternating rounds.

    .venv/bin/python benchmarks/medline.py [--quick] [--file pubmed26n0001.xml.gz]

A file of made-up citations is written from a seed; `--file` reads one of PubMed's own instead (real
citations have more markup, so all programs are slower on them). In each round, every program reads it in a
new process, one after the other. `lxml` is an incremental parse that extracts id, title, abstract, date and
types and clears each citation. Ratios compare medians of processor time; `two processes` is how much more two
of them read in the same wall-clock time, which needs two idle cores.
"""

import argparse
import gzip
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.turns import Reader, read_once, take_turns


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
            f'<ArticleId IdType="pubmed">{n}</ArticleId></ArticleIdList></Reference>'
            for n in range(draw.randint(0, 24))
        )
        yield (
            f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{pmid}</PMID>'
            "<DateRevised><Year>2025</Year><Month>11</Month><Day>02</Day></DateRevised>"
            '<Article PubModel="Print"><Journal><ISSN IssnType="Print">0000-0000</ISSN>'
            '<JournalIssue CitedMedium="Print"><Volume>1</Volume>'
            "<PubDate><Year>2001</Year></PubDate></JournalIssue>"
            f"<Title>{prose(4)}</Title></Journal>"
            f"<ArticleTitle>{prose(12)}.</ArticleTitle><Abstract>{sections}</Abstract><AuthorList>{authors}</AuthorList>"
            '<Language>eng</Language><PublicationTypeList><PublicationType UI="D016428">Journal Article'
            "</PublicationType></PublicationTypeList></Article><MedlineJournalInfo><Country>England</Country>"
            f"<MedlineTA>{prose(2)}</MedlineTA></MedlineJournalInfo><MeshHeadingList>{mesh}</MeshHeadingList>"
            f"</MedlineCitation><PubmedData><ReferenceList>{references}</ReferenceList></PubmedData></PubmedArticle>\n"
        )


def write(path: Path, count: int) -> int:
    """Write the file; return its uncompressed size in bytes."""
    size = 0
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
        size += file.write('<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n')
        size += sum(map(file.write, citations(count, seed=1)))
        size += file.write("</PubmedArticleSet>\n")
    return size


def pubmed_parser(path: Path) -> int:
    from pubmed_parser import parse_medline_xml

    return sum(1 for _ in parse_medline_xml(str(path)))


def lxml(path: Path) -> int:
    from isal import igzip
    from lxml import etree

    found = 0
    with igzip.open(path, "rb") as file:
        for _, article in etree.iterparse(file, tag="PubmedArticle"):
            fields = [article.findtext("MedlineCitation/PMID")]
            for name in ("ArticleTitle", "Abstract/AbstractText", "PublicationTypeList/PublicationType"):
                fields += [
                    "".join(part.itertext()) for part in article.iterfind(f"MedlineCitation/Article/{name}")
                ]
            fields += [part.text for part in article.iterfind("MedlineCitation/DateRevised/*")]
            found += fields[0] is not None
            article.clear()
            while article.getprevious() is not None:
                del article.getparent()[0]
    return found


def pubmill(path: Path) -> int:
    from pubmill.corpus.medline import read_medline

    return sum(1 for _ in read_medline(path))


def pubmill_to_shard(path: Path) -> int:
    from pubmill.corpus.medline import read_medline
    from pubmill.corpus.shards import write_shard

    shard = path.with_name(f"{os.getpid()}.parquet")
    return write_shard(shard, read_medline(path), source="p", file=path.name, order=1)[0]


READERS: dict[str, Reader] = {
    "pubmed_parser": pubmed_parser,
    "lxml": lxml,
    "pubmill": pubmill,
    "pubmill_to_shard": pubmill_to_shard,
}


def together(path: Path, processes: int) -> float:
    """Return the wall-clock seconds of `processes` that each write the file as a shard in parallel."""
    command = [sys.executable, __file__, "--read", "pubmill_to_shard", str(path)]
    start = time.monotonic()
    jobs = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(processes)]
    if any(job.wait() for job in jobs):
        raise SystemExit("a reader failed")
    return time.monotonic() - start


def prepare(folder: Path, given: Path | None, count: int) -> tuple[Path, int]:
    """Write the file to read, and a small one beside it; return it and its uncompressed size in bytes."""
    path = folder / "pubmed26n0001.xml.gz"
    write(folder / "small.xml.gz", 10)
    if given is None:
        return path, write(path, count)
    shutil.copy(given, path)
    with gzip.open(path) as file:
        return path, sum(len(block) for block in iter(lambda: file.read(1 << 20), b""))


def main() -> None:
    parser = argparse.ArgumentParser(description="Reading PubMed's XML: pubmed_parser and pubmill.")
    parser.add_argument("--quick", action="store_true", help="a smaller file, within a minute")
    parser.add_argument("--file", type=Path, help="one of PubMed's files, without deletions")
    parser.add_argument("--read", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        path = Path(arguments.read[1])
        read_once(READERS[arguments.read[0]], path, path.with_name("small.xml.gz"))
        return
    count, turns = (4_000, 3) if arguments.quick else (30_000, 5)
    with tempfile.TemporaryDirectory() as folder:
        path, size = prepare(Path(folder), arguments.file, count)
        found = take_turns(__file__, READERS, path, turns)
        count = found["pubmed_parser"].found
        print(f"{count} citations, {size / 1e6:.0f} MB, {turns} turns")
        alone, pair = together(path, 1), together(path, 2)
    for reader, one in found.items():
        assert one.found == count, f"{reader} lost citations"
        print(
            f"{reader}: {one.rate:.0f} citations/s, {size / 1e6 / one.seconds:.0f} MB/s, "
            f"{one.memory / 1024:.0f} MB resident"
        )
    seconds = {reader: one.seconds for reader, one in found.items()}
    print(f"speed: {seconds['pubmed_parser'] / seconds['pubmill']:.2f}")
    print(f"speed to shard: {seconds['pubmed_parser'] / seconds['pubmill_to_shard']:.2f}")
    print(f"speed against lxml: {seconds['lxml'] / seconds['pubmill']:.2f}")
    print(f"two processes: {2 * alone / pair:.2f}")


if __name__ == "__main__":
    main()
