"""Speed and memory of reading PMC's articles: pubmed_parser and pubmill, turn by turn.

    python benchmarks/pmc.py [--quick] [--archive FILE.tar.gz]

Made-up articles, shaped and sized like PMC's own (about 90 kB), are written from a seed; with --archive, those of
a package of PMC are read instead. Each turn reads all of them in a fresh process, with each program after the
other: pubmed_parser by both of its calls (`parse_pubmed_xml`, `parse_pubmed_paragraph(all_paragraph=True)`),
pubmill by `JatsReader`. Ratios are of medians of the processor time; `memory` is the highest resident size of
pubmill against pubmed_parser.
"""

import argparse
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

USUAL = ("footnotes", "formulas", "sub-articles", "supplements", "tables")


def articles(count: int, seed: int) -> Iterator[str]:
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefghilmnoprstuvy", k=draw.randint(2, 12))) for _ in range(5000)]

    def prose(length: int) -> str:
        return " ".join(draw.choices(words, k=length))

    def paragraph() -> str:
        cited = "".join(
            f"{prose(22)} <italic>{prose(1)}</italic> 10<sup>3</sup> [<xref ref-type='bibr' rid='R{n}'>{n}</xref>]. "
            for n in range(draw.randint(2, 4))
        )
        return f"<p>{cited}{prose(15)}.</p>\n"

    def table(number: int) -> str:
        cells = "".join(f"<td align='center'>{prose(1)}</td>" for _ in range(6))
        return (
            f"<table-wrap id='T{number}'><label>Table {number}</label><caption><p>{prose(12)}.</p></caption>"
            f"<table frame='hsides'><tbody>{f'<tr>{cells}</tr>' * 15}</tbody></table>"
            f"<table-wrap-foot><fn><p>{prose(10)}</p></fn></table-wrap-foot></table-wrap>"
        )

    def section(title: str, nested: int) -> str:
        inner = "".join(
            f"<sec><title>{prose(3)}</title>{paragraph()}{paragraph()}</sec>" for _ in range(nested)
        )
        return (
            f"<sec><title>{title}</title>{paragraph()}{paragraph()}{inner}{table(1) if nested else ''}</sec>"
        )

    for pmcid in range(1, count + 1):
        references = "".join(
            f"<ref id='R{n}'><element-citation publication-type='journal'><person-group person-group-type='author'>"
            + "".join(
                f"<name><surname>{prose(1)}</surname><given-names>A</given-names></name>" for _ in range(5)
            )
            + f"</person-group><article-title>{prose(11)}</article-title><source>{prose(3)}</source><year>2001</year>"
            f"<volume>{n}</volume><fpage>{n}</fpage><lpage>{n + 9}</lpage><pub-id pub-id-type='pmid'>{n}</pub-id>"
            "</element-citation></ref>\n"
            for n in range(45)
        )
        authors = "".join(
            f"<contrib contrib-type='author'><name><surname>{prose(1)}</surname><given-names>{prose(1)}</given-names>"
            "</name><xref ref-type='aff' rid='A1'>1</xref></contrib>"
            for _ in range(6)
        )
        abstract = "".join(f"<sec><title>{prose(1)}</title><p>{prose(50)}.</p></sec>" for _ in range(4))
        yield (
            "<article article-type='research-article' xmlns:xlink='http://www.w3.org/1999/xlink'><front>"
            f"<journal-meta><journal-title-group><journal-title>{prose(3)}</journal-title></journal-title-group>"
            f"</journal-meta><article-meta><article-id pub-id-type='pmc'>{pmcid}</article-id><title-group>"
            f"<article-title>{prose(12)}</article-title></title-group><contrib-group>{authors}</contrib-group>"
            f"<aff id='A1'>{prose(12)}</aff><pub-date pub-type='ppub'><year>2010</year></pub-date><permissions>"
            "<license xlink:href='http://creativecommons.org/licenses/by/2.0'><license-p>Free</license-p></license>"
            f"</permissions><abstract>{abstract}</abstract></article-meta></front><body>{section('Introduction', 0)}"
            f"{section('Methods', 6)}{section('Results', 6)}{section('Discussion', 3)}</body>"
            f"<back><ref-list>{references}</ref-list></back></article>"
        )


def write(folder: Path, count: int) -> None:
    for number, text in enumerate(articles(count, seed=1), 1):
        (folder / f"PMC{number}.xml").write_text(text)


def unpack(folder: Path, archive: Path, count: int) -> None:
    from pubmill.corpus.packages import read_members

    for number, (member, data) in enumerate(read_members(archive)):
        if number == count:
            break
        (folder / Path(member.name).name).write_bytes(data)


def with_pubmed_parser(paths: list[Path]) -> int:
    from pubmed_parser import parse_pubmed_paragraph, parse_pubmed_xml

    found = 0
    for path in paths:
        try:
            parse_pubmed_xml(str(path))
        except KeyError:  # it wants a year of printing
            found -= 1
        parse_pubmed_paragraph(str(path), all_paragraph=True)
        found += 1
    return found


def with_pubmill(paths: list[Path]) -> int:
    from pubmill.corpus.jats import Facts, JatsReader

    read = JatsReader(USUAL)
    return len([read(path.read_bytes(), Facts(int(path.stem[3:])), path.name).id for path in paths])


def parse_only(paths: list[Path]) -> int:
    from lxml import etree

    return len([etree.fromstring(path.read_bytes()).tag for path in paths])


READERS: dict[str, Callable[[list[Path]], int]] = {
    "pubmed_parser": with_pubmed_parser,
    "pubmill": with_pubmill,
    "lxml parse": parse_only,
}


def measure(reader: str, folder: Path) -> tuple[float, int, int]:
    """Read in a fresh process: seconds of processor time, highest resident size in kB, articles read."""
    job = subprocess.run(
        [sys.executable, __file__, "--read", reader, str(folder)], check=True, capture_output=True, text=True
    )
    seconds, size, found = job.stdout.split()
    return float(seconds), int(size), int(found)


def read(reader: str, folder: Path) -> None:
    paths = sorted(folder.iterdir())
    READERS[reader](paths[:5])  # imports and first use are not what is measured
    start = time.process_time()
    found = READERS[reader](paths)
    used = time.process_time() - start
    print(used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, found)


def main() -> None:
    parser = argparse.ArgumentParser(description="Reading PMC's articles: pubmed_parser and pubmill.")
    parser.add_argument("--quick", action="store_true", help="fewer articles, within a minute")
    parser.add_argument("--archive", type=Path, help="a package of PMC, instead of made-up articles")
    parser.add_argument("--read", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        read(arguments.read[0], Path(arguments.read[1]))
        return
    count, turns = (300, 5) if arguments.quick else (2_000, 7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.archive:
            unpack(folder, arguments.archive, count)
        else:
            write(folder, count)
        sizes = [path.stat().st_size for path in folder.iterdir()]
        print(f"{len(sizes)} articles, {sum(sizes) / len(sizes) / 1e3:.0f} kB each, {turns} turns")
        runs = [{reader: measure(reader, folder) for reader in READERS} for _ in range(turns)]
    seconds, memory = {}, {}
    for reader in READERS:
        seconds[reader] = statistics.median(run[reader][0] for run in runs)
        memory[reader] = max(run[reader][1] for run in runs)
        rate, found = len(sizes) / seconds[reader], runs[0][reader][2]
        print(f"{reader}: {rate:.0f} articles/s, {memory[reader] / 1024:.0f} MB resident, {found} read")
    print(f"speed: {seconds['pubmed_parser'] / seconds['pubmill']:.2f}")
    print(f"speed of lxml's parse alone: {seconds['pubmed_parser'] / seconds['lxml parse']:.2f}")
    print(f"memory: {memory['pubmill'] / memory['pubmed_parser']:.2f}")


if __name__ == "__main__":
    main()
