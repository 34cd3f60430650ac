"""Speed and memory of reading PMC's articles: pubmed_parser and pubmill in alternating rounds.

    .venv/bin/python benchmarks/pmc.py [--quick] [--archive FILE.tar.gz]

Made-up articles with the structure and size of PMC's own (about 80 kB) are written from a seed; with
--archive, those of a package of PMC are read instead. In each round, every program reads all of them in a new
process, one after the other: pubmed_parser with both of its calls (`parse_pubmed_xml` and
`parse_pubmed_paragraph(all_paragraph=True)`), pubmill with `JatsReader`. Ratios compare medians of processor
time; `memory` is the peak resident size of pubmill against that of pubmed_parser.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.turns import Reader, read_once, take_turns

USUAL = ("footnotes", "formulas", "sub-articles", "supplements", "tables")


def articles(count: int, seed: int) -> Iterator[str]:
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefghilmnoprstuvy", k=draw.randint(2, 12))) for _ in range(5000)]

    def prose(length: int) -> str:
        return " ".join(draw.choices(words, k=length))

    def paragraph() -> str:
        cited = "".join(
            f"{prose(22)} <italic>{prose(1)}</italic> 10<sup>3</sup> "
            f"[<xref ref-type='bibr' rid='R{n}'>{n}</xref>]. "
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
            f"<ref id='R{n}'><element-citation publication-type='journal'>"
            "<person-group person-group-type='author'>"
            + "".join(
                f"<name><surname>{prose(1)}</surname><given-names>A</given-names></name>" for _ in range(5)
            )
            + f"</person-group><article-title>{prose(11)}</article-title><source>{prose(3)}</source>"
            f"<year>2001</year><volume>{n}</volume><fpage>{n}</fpage><lpage>{n + 9}</lpage>"
            f"<pub-id pub-id-type='pmid'>{n}</pub-id></element-citation></ref>\n"
            for n in range(45)
        )
        authors = "".join(
            f"<contrib contrib-type='author'><name><surname>{prose(1)}</surname>"
            f"<given-names>{prose(1)}</given-names></name><xref ref-type='aff' rid='A1'>1</xref></contrib>"
            for _ in range(6)
        )
        abstract = "".join(f"<sec><title>{prose(1)}</title><p>{prose(50)}.</p></sec>" for _ in range(4))
        yield (
            "<article article-type='research-article' xmlns:xlink='http://www.w3.org/1999/xlink'><front>"
            f"<journal-meta><journal-title-group><journal-title>{prose(3)}</journal-title></journal-title-group>"
            f"</journal-meta><article-meta><article-id pub-id-type='pmc'>{pmcid}</article-id><title-group>"
            f"<article-title>{prose(12)}</article-title></title-group><contrib-group>{authors}</contrib-group>"
            f"<aff id='A1'>{prose(12)}</aff><pub-date pub-type='ppub'><year>2010</year></pub-date>"
            "<permissions><license xlink:href='http://creativecommons.org/licenses/by/2.0'><license-p>Free</license-p></license>"
            f"</permissions><abstract>{abstract}</abstract></article-meta></front><body>"
            f"{section('Introduction', 0)}{section('Methods', 6)}{section('Results', 6)}"
            f"{section('Discussion', 3)}</body>"
            f"<back><ref-list>{references}</ref-list></back></article>"
        )


def unpacked(archive: Path) -> Iterator[tuple[str, bytes]]:
    from pubmill.corpus.packages import read_members

    for member, data in read_members(archive):
        yield Path(member.name).name, data


def prepare(folder: Path, archive: Path | None, count: int) -> list[int]:
    """Write the articles to `all`, and some of them to `some`; return their sizes."""
    made = ((f"PMC{n}.xml", text.encode()) for n, text in enumerate(articles(count, seed=1), 1))
    sizes = []
    for part in ("all", "some"):
        (folder / part).mkdir()
    for number, (name, data) in enumerate(islice(unpacked(archive) if archive else made, count)):
        for part in ("all", "some") if number < 5 else ("all",):
            (folder / part / name).write_bytes(data)
        sizes.append(len(data))
    return sizes


def with_pubmed_parser(folder: Path) -> int:
    from pubmed_parser import parse_pubmed_paragraph, parse_pubmed_xml

    found = 0
    for path in sorted(folder.iterdir()):
        try:
            parse_pubmed_xml(str(path))
        except KeyError:  # it requires a year of print publication
            found -= 1
        parse_pubmed_paragraph(str(path), all_paragraph=True)
        found += 1
    return found


def with_pubmill(folder: Path) -> int:
    from pubmill.corpus.jats import JatsReader
    from pubmill.corpus.shards import Document

    read = JatsReader(USUAL)
    return sum(
        bool(read(path.read_bytes(), Document(f"pmc:{path.stem[3:]}", licence="CC BY"), path.name).id)
        for path in sorted(folder.iterdir())
    )


def parse_only(folder: Path) -> int:
    from lxml import etree

    return sum(bool(etree.fromstring(path.read_bytes()).tag) for path in sorted(folder.iterdir()))


READERS: dict[str, Reader] = {
    "pubmed_parser": with_pubmed_parser,
    "pubmill": with_pubmill,
    "lxml parse": parse_only,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Reading PMC's articles: pubmed_parser and pubmill.")
    parser.add_argument("--quick", action="store_true", help="fewer articles, within a minute")
    parser.add_argument("--archive", type=Path, help="a package of PMC, instead of made-up articles")
    parser.add_argument("--read", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        read_once(READERS[arguments.read[0]], Path(arguments.read[1], "all"), Path(arguments.read[1], "some"))
        return
    count, turns = (300, 5) if arguments.quick else (2_000, 7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sizes = prepare(folder, arguments.archive, count)
        print(f"{len(sizes)} articles, {sum(sizes) / len(sizes) / 1e3:.0f} kB each, {turns} turns")
        found = take_turns(__file__, READERS, folder, turns)
    for reader, one in found.items():
        rate = len(sizes) / one.seconds
        print(f"{reader}: {rate:.0f} articles/s, {one.memory / 1024:.0f} MB resident, {one.found} read")
    seconds = {reader: one.seconds for reader, one in found.items()}
    print(f"speed: {seconds['pubmed_parser'] / seconds['pubmill']:.2f}")
    print(f"speed of lxml's parse alone: {seconds['pubmed_parser'] / seconds['lxml parse']:.2f}")
    print(f"memory: {found['pubmill'].memory / found['pubmed_parser'].memory:.2f}")


if __name__ == "__main__":
    main()
