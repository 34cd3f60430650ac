"""Sources and shards of corpora, the user's own text, and what a selection of documents needs."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill.errors import PubmillError
from pubmill.recipes.corpora import DuplicatesRecipe, FetchRecipe, ParsingRecipe
from pubmill.recipes.reading import as_json
from pubmill.specs import Specs
from pubmill.specs.corpus_specs import Lock, PmcPackagesSource
from pubmill.specs.study import check_study
from pubmill.stages import Graph, as_arguments, checked_graph
from pubmill.stages.corpus_jobs import (
    FindDuplicates,
    Fingerprint,
    LatestVersions,
    LockCorpus,
    Parse,
    SelectDocuments,
)
from pubmill.stages.source_jobs import FetchFiles
from tests.unit.toy_studies import GraphOf, targets


def test_a_local_folder_that_is_not_given_or_has_no_files_is_reported(root: Path, tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match=r"set local_files: \{abstracts: "):
        targets(root, scale="small")
    with pytest.raises(PubmillError, match="no file in .* matches"):
        targets(root, scale="small", local_files={"abstracts": str(tmp_path)})
    (tmp_path / "a.jsonl.gz").touch()
    for path in (tmp_path / "a.jsonl.gz", tmp_path / "none"):
        with pytest.raises(PubmillError, match=rf"{path} \(local_files.abstracts\) is not a folder"):
            targets(root, scale="small", local_files={"abstracts": str(path)})


@pytest.mark.parametrize("name", ["x;touch P.jsonl.gz", "{x}.jsonl.gz", "-x.jsonl.gz", "a\nb.jsonl.gz"])
def test_a_file_of_the_users_own_with_an_odd_name_is_refused(root: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(PubmillError) as caught:
        targets(root, scale="small", local_files={"abstracts": str(tmp_path)}).corpora.shards(
            "pubmed-abstracts"
        )
    reported = str(caught.value)
    assert f"a file is called {name!r}; expected letters" in reported and "Rename it" in reported


def test_a_whole_baseline_fits_on_a_command_line(root: Path) -> None:
    """One argument of a Linux program has at most 131,072 bytes, and `bash -c` takes the command as one."""
    made = targets(root, scale="full", models=["no-pretraining"])
    assert len(made.corpora.shards("pubmed-abstracts")) == 1514
    assert (
        len(as_json(made.stage(LatestVersions).recipe_of(SimpleNamespace(corpus="pubmed-abstracts")))) < 65536
    )
    assert len(as_json(made.report.recipe())) < 131072


def with_packages(specs: Specs) -> Specs:
    """Specs with one corpus more, of the articles of two packages of PMC."""
    values = {
        "name": "packaged", "kind": "pmc-packages", "url": "https://b.org",
        "leave_out": ["tables", "captions"],
    }  # fmt: skip
    source = PmcPackagesSource.model_validate(
        values
        | {"packages": ["a/p1", "b/p2"]}
        | {"unreadable": {"p2": {"PMC2.1": "cut", "PMC1.1": "cut"}, "of another block": {"PMC3.1": "cut"}}}
    )
    corpus = specs.corpora["pubmed-abstracts"].model_copy(update={"name": "mine", "sources": (source,)})
    return specs.model_copy(update={"corpora": {**specs.corpora, "mine": corpus}})


def test_packages_of_pmc_are_shards_with_their_lists_of_files(full_specs: Specs, graph_of: GraphOf) -> None:
    graph = graph_of(with_packages(full_specs))
    made, sources = graph.corpora, graph.paths.sources()
    urls = [(f"https://b.org/{one}.tar.gz", f"https://b.org/{one}.filelist.csv") for one in ("a/p1", "b/p2")]
    assert made.shards("mine") == [
        ("packaged", "p1", f"{sources}/b.org/a/p1.tar.gz", urls[0]),
        ("packaged", "p2", f"{sources}/b.org/b/p2.tar.gz", urls[1]),
    ]
    fetched = SimpleNamespace(source="packaged", block="p1+1")
    wanted = FetchRecipe(urls=(*urls[0], *urls[1]), md5_beside=False)
    assert graph.stage(FetchFiles).recipe_of(fetched) == wanted
    recipe = graph.stage(Parse).recipe_of(fetched)
    assert (recipe.leave_out, recipe.unreadable) == (("captions", "tables"), {"p2": ("PMC1.1", "PMC2.1")})
    assert made.source_names("pmc-packages") == ["packaged"]
    assert made.parsed("mine") == [graph.paths.block(graph.paths.parsed(), "packaged", "p1+1")]
    assert made.fetched("packaged", "p1+1") == [graph.paths.block(sources, "packaged", "p1+1")]
    assert [
        one.name for one in graph.stage(LatestVersions).recipe_of(SimpleNamespace(corpus="mine")).sources
    ] == ["packaged"]
    files = graph.stage(LockCorpus).recipe_of(SimpleNamespace(corpus="mine")).files
    assert [(one.folder, one.names) for one in files] == [
        ("b.org/a", ("p1.tar.gz",)), ("b.org/b", ("p2.tar.gz",)),
    ]  # fmt: skip


def test_blocks_divide_each_source_and_are_shared_by_corpora(full_specs: Specs, graph_of: GraphOf) -> None:
    graph = graph_of(with_packages(full_specs))
    blocks = graph.corpora.blocks("pubmed-pmc")
    shards = [shard for block in blocks for shard in block.shards]
    assert shards == graph.corpora.shards("pubmed-pmc")
    assert {len(block.shards) for block in blocks} == {50, 14}  # 1,514 files of PubMed, 1,300 shards of PMC
    assert blocks[1][:3] == ("pubmed", "pubmed26n0051+49", 50)
    assert all(len({shard.source for shard in block.shards}) == 1 for block in blocks)
    assert set(graph.corpora.parsed("pubmed-abstracts")) < set(graph.corpora.parsed("pubmed-pmc"))
    second = SimpleNamespace(corpus="pubmed-pmc", source="pubmed", block=blocks[1].name)
    parts = [Path(path).stem for path in graph.corpora.parts(second)]
    assert (parts[0], parts[-1], len(parts)) == ("part-0050", "part-0099", 50)
    assert Path(graph.corpora.parsed_shards(second)[0]).name == "pubmed26n0051.parquet"


def test_unknown_sources_and_blocks_are_refused(full_specs: Specs, graph_of: GraphOf) -> None:
    made = graph_of(with_packages(full_specs)).corpora
    with pytest.raises(PubmillError, match="no corpus has a source 'none'"):
        made.source("none")
    with pytest.raises(PubmillError, match="source packaged: no corpus has the block 'p3'"):
        made.source_block("packaged", "p3")
    with pytest.raises(PubmillError, match="corpus mine has no block 'p3' of packaged"):
        made.block(SimpleNamespace(corpus="mine", source="packaged", block="p3"))
    specs = with_packages(full_specs)
    (source,) = specs.corpora["mine"].sources
    other = source.model_copy(update={"packages": ("a/p1", "b/p3")})
    corpus = specs.corpora["mine"].model_copy(update={"name": "other", "sources": (other,)})
    both = specs.model_copy(update={"corpora": {**specs.corpora, "other": corpus}})
    with pytest.raises(PubmillError, match="different files in the block 'p1\\+1'; give the source another"):
        graph_of(both).corpora.source_block("packaged", "p1+1")


def test_a_corpus_is_rebuilt_from_the_lock_that_its_spec_names(full_specs: Specs, graph_of: GraphOf) -> None:
    lock = Lock(local="locks")
    locked = full_specs.corpora["pubmed-pmc"].model_copy(update={"lock": lock})
    specs = full_specs.model_copy(update={"corpora": {**full_specs.corpora, "pubmed-pmc": locked}})
    graph = graph_of(specs)
    assert graph.corpora.locked() == ["pubmed-pmc"]
    assert graph.corpora.lock("pubmed-pmc") == graph.paths.local_source("locks", "corpus.lock")
    with pytest.raises(PubmillError, match="corpus pubmed-abstracts names no lock; write"):
        graph.corpora.lock("pubmed-abstracts")


SPEC = """\
name: mixed
sources:
  - {name: notes, kind: mimic, local: mimic-iii, access: credentialed, apply: 'https://example.org'}
  - {name: web, kind: text, local: web, files: '*.txt*', documents: line, language: eng}
selection: {min_words: 5, languages: [eng]}
selections:
  notes: {types: [Physician], min_words: null}
"""


def graph_with(specs: Path, **config: object) -> Graph:
    base = {"study": "x", "title": "x", "scale": "demo", "tables": ["gu2020/table06"], "datasets": ["bc2gm"]}
    return checked_graph(*check_study({**base, "models": ["no-pretraining"], **config}, specs))


def write(specs: Path, text: str = SPEC, name: str = "mixed") -> Path:
    (specs / f"corpora/{name}.yaml").write_text(text)
    return specs


@pytest.fixture
def local(tmp_path: Path) -> dict[str, str]:
    for file in ("mimic/NOTEEVENTS.csv.gz", "web/b.txt", "web/a.txt.gz"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    return {"mimic-iii": str(tmp_path / "mimic"), "web": str(tmp_path / "web")}


def test_parts_have_the_selection_of_their_source(specs: Path, local: dict[str, str]) -> None:
    made = graph_with(write(specs), local_files=local)
    assert [shard[:2] for shard in made.corpora.shards("mixed")] == [
        ("notes", "NOTEEVENTS"), ("web", "a"), ("web", "b"),
    ]  # fmt: skip
    blocks = [
        SimpleNamespace(corpus="mixed", source=one.source, block=one.name)
        for one in made.corpora.blocks("mixed")
    ]
    recipes = [made.stage(SelectDocuments).recipe_of(block) for block in blocks]
    assert [(recipe.types, recipe.min_words) for recipe in recipes] == [(("Physician",), None), (None, 5)]
    assert [made.stage(Parse).recipe_of(block) for block in blocks] == [
        ParsingRecipe(source="notes", kind="mimic", brackets="keep"),
        ParsingRecipe(source="web", kind="text", documents="line", language="eng"),
    ]
    assert made.corpora.fetched("web", "a+1")[0] == "results/demo/sources/local/web/a.txt.gz"


def test_one_source_is_found_without_the_files_of_another(specs: Path, local: dict[str, str]) -> None:
    del local["mimic-iii"]
    made = graph_with(write(specs), local_files=local)
    assert made.corpora.fetched("web", "a+1")[1].endswith("web/b.txt")
    needs = r"corpus mixed \(MIMIC-III, .* at https://example.org\) needs files of your own"
    with pytest.raises(PubmillError, match=needs):
        made.corpora.shards("mixed")


def test_two_files_of_one_name_are_reported(specs: Path, local: dict[str, str]) -> None:
    (Path(local["web"]) / "a.txt").touch()
    made = graph_with(write(specs), local_files=local)
    with pytest.raises(PubmillError, match="several files in .* are called a, but for their endings"):
        made.corpora.shards("mixed")


def test_what_needs_the_whole_corpus(specs: Path, local: dict[str, str]) -> None:
    more = (
        "duplicates: {similarity: 0.9}\ncontamination: {datasets: [squad-v1, bc2gm], splits: [test, dev]}\n"
    )
    made = graph_with(write(specs, SPEC + more), local_files=local)
    folder = "results/demo/corpora/mixed"
    inputs = made.selection.inputs("mixed")
    assert inputs == {"exclude": f"{folder}/excluded.parquet", "duplicates": f"{folder}/duplicates.parquet"}
    assert as_arguments(inputs)[:2] == ["--exclude", f"{folder}/excluded.parquet"]
    assert made.contamination.splits("mixed", "excluded") == {"squad-v1": ["dev"], "bc2gm": ["test", "dev"]}
    assert made.contamination.splits("mixed", "contamination") == {"bc2gm": ["dev", "test"]}
    block = SimpleNamespace(corpus="mixed", source="web", block="a+1")
    assert made.stage(Fingerprint).recipe_of(block).similar is True
    assert made.stage(FindDuplicates).recipe_of(block) == DuplicatesRecipe(similarity=0.9)
    plain = graph_with(write(specs), local_files=local)
    assert plain.selection.inputs("mixed") == {}


def test_each_corpus_that_a_model_is_trained_on_has_a_report(root: Path) -> None:
    report = "results/demo/corpora/pubmed-abstracts/contamination.json"
    assert report in graph_with(root / "specs", models=["pubmedbert-base"]).scope.everything()
    assert report not in graph_with(root / "specs").scope.everything()
