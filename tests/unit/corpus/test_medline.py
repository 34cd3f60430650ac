"""Reading PubMed's XML: all text, every deletion, and a clear error for every broken file.

Among it is text that other readers lose, truncate, join or invent.
"""

import gzip
import hashlib
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.corpus import medline
from pubmill.corpus.filters import rejection
from pubmill.corpus.medline import file_order, read_medline
from pubmill.corpus.shards import Document, joined, write_shard
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import SelectionRecipe
from tests.unit.programs import start

HEAD = (
    '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE PubmedArticleSet PUBLIC '
    '"-//NLM//DTD PubMedArticle, 1st January 2025//EN" "https://dtd.nlm.nih.gov/pubmed_250101.dtd">\n'
)
JOB = [sys.executable, "-m", "pubmill.job"]
MATHML = 'xmlns:mml="http://www.w3.org/1998/Math/MathML"'


def citation(
    pmid: int, article: str = "<ArticleTitle>T</ArticleTitle>", version: str = ' Version="1"'
) -> str:
    return (
        f"<MedlineCitation><PMID{version}>{pmid}</PMID><DateRevised><Year>2026</Year><Month>1</Month>"
        f"<Day>09</Day></DateRevised><Article>{article}</Article></MedlineCitation>"
    )


def articles(*citations: str) -> str:
    return "\n".join(f"<PubmedArticle>{one}</PubmedArticle>" for one in citations)


def write(folder: Path, content: str, head: str = HEAD, root: str = "PubmedArticleSet") -> Path:
    path = folder / "pubmed26n0001.xml.gz"
    path.write_bytes(gzip.compress(f"{head}<{root}>\n{content}\n</{root.split()[0]}>\n".encode()))
    return path


def read(folder: Path, content: str, **options: str) -> list[Document]:
    return list(read_medline(write(folder, content, **options)))


def abstract(folder: Path, content: str) -> tuple[tuple[str, str], ...]:
    (document,) = read(folder, articles(citation(1, f"<Abstract>{content}</Abstract>")))
    return document.sections


@settings(max_examples=40)
@given(sizes=st.lists(st.integers(0, 300), min_size=1, max_size=12), block=st.integers(1, 700))
def test_blocks_of_any_size_give_the_same_documents(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], block: int
) -> None:
    texts = [f"<Abstract><AbstractText>{'aé<i>b</i>' * size}</AbstractText></Abstract>" for size in sizes]
    path = write(
        tmp_path_factory.mktemp("x"), articles(*(citation(n, text) for n, text in enumerate(texts, 1)))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(medline, "BLOCK", block)
        found = [(row.id, joined(row.sections)) for row in read_medline(path)]
    assert found == [(f"pmid:{n}", "aéb" * size) for n, size in enumerate(sizes, 1)]


def test_order_is_by_year_then_number() -> None:
    names = ["pubmed26n0001.xml.gz", "pubmed25n1400.xml.gz", "pubmed26n1335.xml.gz", "medline05n0500.xml.gz"]
    assert sorted(names, key=lambda name: file_order(Path(name))) == [names[3], names[1], names[0], names[2]]
    with pytest.raises(PubmillError, match="mine.xml.gz: a PubMed file is named like"):
        file_order(Path("mine.xml.gz"))


def refused(path: Path, *words: str) -> None:
    output = path.with_name("out.parquet")
    with pytest.raises(PubmillError) as caught:
        write_shard(output, read_medline(path), source="p", file=path.name, order=1)
    assert all(word in str(caught.value) for word in (path.name, *words)), caught.value
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_truncated_damaged_and_other_files_are_refused(tmp_path: Path) -> None:
    path = write(
        tmp_path, articles(*(citation(n, f"<ArticleTitle>{n * 'x'}</ArticleTitle>") for n in range(900)))
    )
    path.write_bytes(path.read_bytes()[:-200])
    refused(path, "truncated or damaged gzip", "download it again")
    path = write(tmp_path, articles(citation(1)))
    path.write_bytes(path.read_bytes()[:-8] + b"\1\2\3\4" + path.read_bytes()[-4:])
    refused(path, "truncated or damaged gzip")
    path.write_bytes(b"<PubmedArticleSet></PubmedArticleSet>")
    refused(path, "truncated or damaged gzip")
    path.write_bytes(b"")
    refused(path, "truncated or damaged gzip (it is empty) after line 0", "download it again")


def test_a_named_dtd_is_not_looked_for_and_a_local_one_not_read(tmp_path: Path) -> None:
    head = '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD X//EN" "http://dtd.nlm.nih.gov/a.dtd">'
    assert len(read(tmp_path, articles(citation(1)), head=head)) == 1
    dtd = tmp_path.with_suffix(".dtd")
    dtd.write_text('<!ENTITY e "secret">')
    refused(write(tmp_path, ENTITY, doctype(f'SYSTEM "file://{dtd}"')), "'e' not defined")


@pytest.mark.parametrize("hiding", [
    "<!-- <PubmedArticle></PubmedArticle> -->", "<?x </PubmedArticle> ?>",
    "<DeleteCitation><PubmedArticle></PubmedArticle>  </DeleteCitation>",
])  # fmt: skip
def test_a_block_that_ends_inside_of_something_grows(tmp_path: Path, hiding: str) -> None:
    content = articles(citation(1)) + hiding + articles(*(citation(n) for n in range(2, 9)))
    path = write(tmp_path, content)
    for place in range(content.index(hiding), content.index(hiding) + len(hiding) + 30):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(medline, "HEAD_LIMIT", len(HEAD) + len("<PubmedArticleSet>\n") + place)
            patch.setattr(medline, "BLOCK", 20)
            assert [row.id for row in read_medline(path)] == [f"pmid:{n}" for n in range(1, 9)]


def test_a_broken_block_is_refused_at_its_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(medline, "CITATION_LIMIT", 1 << 19)
    bad = citation(12).replace("</ArticleTitle>", "</Title>")
    content = articles(citation(11), bad, *(citation(n, "<ArticleTitle>" + "x" * 900) for n in range(9000)))
    refused(write(tmp_path, content), "gz:5:", "malformed XML", "Last PMID read: 12")


DECLARED = "declares entities"
LEVELS = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
MALFORMED = articles(citation(11), citation(12).replace("</ArticleTitle>", "</Title>"), citation(13))
ENTITY = articles(citation(1, "<ArticleTitle>&e;</ArticleTitle>"))


def doctype(text: str) -> str:
    return f"<!DOCTYPE PubmedArticleSet {text}>"


@pytest.mark.parametrize(("content", "head", "words"), [
    *((content, HEAD, (word,)) for content, word in [
        ("<PubmedBookArticle/>", "<PubmedBookArticle> without <BookDocument>"),
        *((f"<PubmedBookArticle><BookDocument>{pmids}</BookDocument></PubmedBookArticle>", fault)
          for pmids, fault in (("", "without <PMID>"), ("<PMID>1</PMID>" * 2, "<PMID> more than once"))),
        ("<Other/>", "<Other> where a citation was expected"),
        (articles("<Other/>"), "without <MedlineCitation>"),
        (articles("<MedlineCitation><PMID>x</PMID><Article/></MedlineCitation>"), "not a number"),
        (articles("<MedlineCitation><PMID>5</PMID></MedlineCitation>"), "without <Article>"),
        (articles("<MedlineCitation/><MedlineCitation/>"), "with <MedlineCitation> more than once"),
        (articles(citation(0).replace(">0<", f">{'7' * 5000}<")), "not a number of at most 18 digits"),
        (articles(citation(5, version=' Version="9999999999"')), "not a number of at most 9 digits"),
        (articles(citation(1, version=' Version="a"')), "Version='a'"),
    ]),
    (MALFORMED, HEAD, ("gz:5:", "malformed XML: Opening and ending tag mismatch", "Last PMID read: 12.")),
    *((articles(citation(1)) + tail, HEAD, ("malformed XML",))
      for tail in ("</PubmedArticleSet>", "</PubmedArticleSet>x", "<!-- </PubmedArticle> --")),
    (ENTITY, HEAD, ("malformed XML", "'e' not defined")),
    *((articles(citation(1)), doctype(damaged), ("malformed XML: the document type",))
      for damaged in ('PUBLIC "-//NLM//DTD X//EN"', 'PUBLIC "a\x01" "b"', 'SYSTEM "b', "X")),
    (ENTITY.replace("&e;", "&e11;"), doctype(f'[<!ENTITY e0 "ha">{LEVELS}]'), (DECLARED,)),
    (ENTITY, doctype('[<!ENTITY e SYSTEM "file:///etc/hostname">]'), (DECLARED,)),
    (articles(citation(1)), doctype('[<!ENTITY % e SYSTEM "file:///etc/hostname"> %e;]'), (DECLARED,)),
    ("", '<?xml version="1.0" encoding="ISO-8859-1"?>', ("encoded as ISO-8859-1",)),
])  # fmt: skip
def test_unexpected_content(tmp_path: Path, content: str, head: str, words: tuple[str, ...]) -> None:
    refused(write(tmp_path, content, head), *words)


@pytest.mark.parametrize("root", ["articles", "PubmedArticleSet xmlns='urn:x'"])
def test_wrong_root(tmp_path: Path, root: str) -> None:
    refused(write(tmp_path, articles(citation(1)), root=root), "not one of PubMed's citation files")


def arguments(folder: Path, *sources: Path) -> list[str]:
    recipe = '{"source": "pubmed", "kind": "pubmed"}'
    folders = ["--folder", str(folder), "--output", str(folder / "blocks/b.json")]
    return ["parse", "--recipe", recipe, *folders, "--files", *map(str, sources)]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = " ".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(40))
    made = (f"<Abstract><AbstractText>{n} {text}</AbstractText></Abstract>" for n in range(3_000))
    content = articles(*(citation(n, abstract) for n, abstract in enumerate(made, 1)))
    return write(tmp_path_factory.mktemp("large"), content)


def test_a_killed_block_goes_on_where_it_was_and_gives_the_same_bytes(
    tmp_path: Path, large: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    second, third = (large.with_name(f"pubmed26n000{number}.xml.gz") for number in (2, 3))
    for copy in (second, third):
        copy.write_bytes(large.read_bytes())
    names = ["pubmed26n0001.parquet", "pubmed26n0002.parquet"]
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    start(*arguments(whole, large, second))
    job = subprocess.Popen([*JOB, *arguments(folder, large, second)])
    while job.poll() is None and not list(folder.glob(f".{names[1]}.*.tmp")):
        time.sleep(0.001)
    os.kill(job.pid, signal.SIGKILL)
    assert job.wait() == -signal.SIGKILL
    assert [path.name for path in folder.glob("[!.]*")] == names[:1]
    first = (folder / names[0]).stat()
    start(*arguments(folder, large, second))
    assert all((folder / name).read_bytes() == (whole / name).read_bytes() for name in names)
    capsys.readouterr()
    start(*arguments(folder, large, second, third))
    assert "1 of 3 made" in capsys.readouterr().out and (folder / names[0]).stat() == first


def test_a_disk_that_takes_no_more(tmp_path: Path, large: Path) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    folder = tmp_path / "out"
    job = subprocess.run(
        [*JOB, *arguments(folder, large)], preexec_fn=limit, stderr=subprocess.PIPE, text=True
    )
    assert job.returncode == 1
    assert job.stderr.startswith(f"pubmill: error: cannot write {folder / 'pubmed26n0001.parquet'}")
    assert list(folder.iterdir()) == []


def test_a_citation_may_have_16_mebibytes_and_long_numbers(tmp_path: Path) -> None:
    """Thousands of authors make a few MB; a citation without an end must not fill the memory."""
    path, size = tmp_path / "pubmed26n0001.xml.gz", 7 << 20
    text = f"<AbstractText>{'x' * size}</AbstractText>"
    long = citation(1, f"<Abstract>{text}{text}</Abstract>")
    path.write_bytes(gzip.compress(f"<PubmedArticleSet>{articles(long)}</PubmedArticleSet>".encode(), 1))
    assert [len(text) for _, text in next(iter(read_medline(path))).sections] == [size, size]
    path.write_bytes(gzip.compress(b"<PubmedArticleSet><PubmedArticle>" + b"x" * (33 << 20), 1))
    with pytest.raises(PubmillError, match="no </PubmedArticle> within 16 MiB"):
        list(read_medline(path))
    (found,) = read(tmp_path, articles(citation(10**18 - 1, version=f' Version="{10**9 - 1}"')))
    assert (found.id, found.version) == (f"pmid:{10**18 - 1}", 10**9 - 1)


def test_a_large_file_may_unpack_to_a_larger_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, articles(*(citation(number) for number in range(1, 3000))))
    size, ratio = path.stat().st_size, len(gzip.decompress(path.read_bytes())) / path.stat().st_size
    assert size > 1000 and 10 < ratio < 100
    monkeypatch.setattr(medline, "BLOCK", 1 << 12)
    cases = ((200, 0, True), (int(ratio) + 1, 0, True), (int(ratio / 2), 0, False), (2, 1 << 28, True))
    for limit, small, passes in cases:
        monkeypatch.setattr(medline, "RATIO_LIMIT", limit)
        monkeypatch.setattr(medline, "SMALL", small)
        if passes:
            assert len(list(read_medline(path))) == 2999
        else:
            with pytest.raises(PubmillError, match=f"unpacks to more than {limit} times its size"):
                list(read_medline(path))


@pytest.mark.parametrize(("written", "text"), [
    ("levels of <i>TP53</i> rose", "levels of TP53 rose"),  # cut at the first inline tag
    ("<i>TP<sub>53</sub></i> rose", "TP53 rose"),  # the second level lost
    ("<b><i><u>a<sup>b<sub>c</sub>d</sup>e</u></i>f</b>g", "abcdefg"),
    ("<b>A</b> <i>b</i> c", "A b c"),  # the blank between tags lost
    ("CO<sub>2</sub> and Ca<sup>2+</sup>", "CO2 and Ca2+"),
    ("β-catenin, &#947;, &#x3b1;-syn", "β-catenin, γ, α-syn"),  # Greek letters stripped
    ("p &lt; 0.05 &amp; q &gt; 1", "p < 0.05 & q > 1"),
    ("&amp;lt; stays", "&lt; stays"),  # unescaped twice
    ("<mml:math><mml:mrow><mml:mi>x</mml:mi><mml:mo>=</mml:mo><mml:mn>1</mml:mn></mml:mrow></mml:math> y",
     "x=1 y"),
    (f"<mml:math {MATHML}><mml:mi>z</mml:mi></mml:math>.", "z."),
    ("a<DispFormula><mml:math><mml:mi>b</mml:mi></mml:math></DispFormula>c", "abc"),
    ("one<![CDATA[ <two> & ]]>three", "one <two> & three"),
    ("one\n      two\t three&#13;four ", "one two three four"),
    ("\u00a0five\u2003six\u00a0", "\u00a0five\u2003six\u00a0"),
    *((text, text) for text in (  # in no normal form
        "e\u0301 \u00e9 \ufb01 \u00b5 \u03a9 \ud55c", "soft\u00adhyphen zero\u200bwidth thin\u2009space 𝛼 🧬",
    )),
    ("long note (ABSTRACT TRUNCATED AT 250 WORDS)", "long note (ABSTRACT TRUNCATED AT 250 WORDS)"),
    ("long note [ABSTRACT TRUNCATED AT 400 WORDS]", "long note [ABSTRACT TRUNCATED AT 400 WORDS]"),
])  # fmt: skip
def test_text_is_whole(tmp_path: Path, written: str, text: str) -> None:
    assert abstract(tmp_path, f"<AbstractText>{written}</AbstractText>") == (("", text),)
    (document,) = read(tmp_path, articles(citation(1, f"<ArticleTitle>{written}</ArticleTitle>")))
    assert document.title == text


def test_labelled_sections_stay_apart_and_in_order(tmp_path: Path) -> None:
    content = (
        '<AbstractText Label="METHODS AND RESULTS" NlmCategory="METHODS">We <b>did</b>.</AbstractText>'
        '<AbstractText Label="UNLABELLED">Then.</AbstractText><AbstractText NlmCategory="RESULTS">So.'
        '</AbstractText><AbstractText Label="METHODS AND RESULTS">Again.</AbstractText>'
    )
    found = abstract(tmp_path, content)
    assert found == (
        ("METHODS AND RESULTS", "We did."), ("UNLABELLED", "Then."), ("", "So."),
        ("METHODS AND RESULTS", "Again."),
    )  # fmt: skip
    assert joined(found).splitlines()[2] == "So."


def other(kind: str, text: str) -> str:
    return f'<OtherAbstract Type="{kind}" Language="fre"><AbstractText>{text}</AbstractText></OtherAbstract>'


@pytest.mark.parametrize("own", ["", "<Abstract><AbstractText>Own.</AbstractText></Abstract>"])
def test_other_abstracts_are_never_the_abstract(tmp_path: Path, own: str) -> None:
    made = citation(1, own).replace(
        "</MedlineCitation>", other("Publisher", "Autre.") + other("plain", "X") + "</MedlineCitation>"
    )
    (document,) = read(tmp_path, articles(made))
    assert document.sections == ((("", "Own."),) if own else ())


def test_copyright_and_original_titles_are_no_text(tmp_path: Path) -> None:
    made = (
        "<Abstract><AbstractText>Text. Copyright 2020 in the text stays.</AbstractText>"
        "<CopyrightInformation>© 2020 Them.</CopyrightInformation></Abstract>"
    )
    (document,) = read(tmp_path, articles(citation(1, made)))
    assert document.sections == (("", "Text. Copyright 2020 in the text stays."),)
    assert document.licence == "© 2020 Them."
    translated = (
        "<ArticleTitle>[Über <i>E. coli</i>: a case].</ArticleTitle><Language>ger</Language>"
        "<VernacularTitle>Ein Fall</VernacularTitle>"
    )
    (document,) = read(tmp_path, articles(citation(1, translated)))
    assert (document.title, document.languages) == ("[Über E. coli: a case].", ("ger",))
    (document,) = read(tmp_path, articles(citation(1, "")))
    assert document == Document(id="pmid:1", pmid="1", date="2026-01-09")


def test_a_book_is_a_row_without_text_that_selections_leave_out_and_count(tmp_path: Path) -> None:
    book = (
        "<PubmedBookArticle><BookDocument><PMID Version='2'>8</PMID><Abstract><AbstractText>no</AbstractText>"
        "</Abstract></BookDocument></PubmedBookArticle>"
    )
    found = read(tmp_path, articles(citation(1)) + book + articles(citation(2)))
    assert [row.id for row in found] == ["pmid:1", "pmid:8", "pmid:2"]
    assert found[1] == Document(id="pmid:8", version=2, pmid="8", flags=("book",))
    assert rejection(found[1], SelectionRecipe()) == "book"


@pytest.mark.parametrize("root", ["PubmedArticleSet", "MedlineCitationSet"])
def test_old_and_new_roots_give_the_same(tmp_path: Path, root: str) -> None:
    text = "<Abstract><AbstractText>a <i>b</i></AbstractText></Abstract>"
    content = [citation(1, text), citation(2, text)]
    made = articles(*content) if root == "PubmedArticleSet" else "\n".join(content)
    found = read(tmp_path, made + "<DeleteCitation><PMID>3</PMID></DeleteCitation>", root=root)
    assert [(row.id, row.deleted, row.sections) for row in found] == [
        ("pmid:1", False, (("", "a b"),)), ("pmid:2", False, (("", "a b"),)), ("pmid:3", True, ()),
    ]  # fmt: skip
