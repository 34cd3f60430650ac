"""Files that one must apply for: found, missing, half there; and what is said in each case."""

import re
import shutil
from pathlib import Path

import pytest

from pubmill.convert.dataset import convert
from pubmill.errors import PubmillError
from pubmill.specs import File, Specs
from pubmill.stages import Graph, checked_graph
from pubmill.stages.dataset_recipes import conversion_recipe
from tests.licensed import APPLY, FILES, KEY, NAME, SPEC, add_spec, add_to_demo, write_files
from tests.unit.toy_studies import GraphOf, study_of
from tests.world.part import CANARY

TABLE = "gu2020/table06"


@pytest.fixture(scope="module")
def specs(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout's specs with a made-up dataset that one must apply for; no test changes them."""
    folder = tmp_path_factory.mktemp("checkout") / "specs"
    shutil.copytree(root / "specs", folder)
    add_spec(folder)
    return folder


@pytest.fixture
def changed(specs: Path, tmp_path: Path) -> Path:
    """A copy of them that a test changes before it makes a graph."""
    return Path(shutil.copytree(specs, tmp_path / "specs"))


def targets(specs: Path, **config: object) -> Graph:
    base = {"models": ["no-pretraining"], "datasets": [NAME, "bc2gm"]}
    return checked_graph(*study_of(specs.parent, **base | config))


def missing(graph: Graph, table: str = TABLE) -> dict[str, str]:
    return graph.tables.recipe(table).missing


def mirror_of(specs: Path, tmp_path: Path, *lost: str) -> dict[str, str]:
    """A mirror with the files of bc2gm, but for those of these names, as settings of a study."""
    for file in targets(specs).specs.datasets["bc2gm"].sources.values():
        assert isinstance(file, File)
        path = tmp_path / "mirror" / file.url.removeprefix("https://")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.name not in lost:
            path.touch()
    return {"mirror": str(tmp_path / "mirror"), "results": str(tmp_path / "r")}


def test_without_its_files_a_dataset_is_not_run_and_its_cells_say_where_to_apply(specs: Path) -> None:
    made = targets(specs)
    assert made.scope.datasets() == ["bc2gm"]
    assert APPLY in missing(made)[NAME] and f"local_files: {KEY}" in missing(made)[NAME]


def test_what_the_mirror_lacks_is_left_out_and_the_cells_say_so(specs: Path, tmp_path: Path) -> None:
    config = mirror_of(specs, tmp_path, "test.tsv", "devel.tsv")
    made = targets(specs, tables=[TABLE, "gu2020/table03"], **config)
    assert made.scope.datasets() == []
    facts = made.fact_tables.sources("gu2020/table03")
    for reason in (missing(made)["bc2gm"], str(facts["bc2gm"]["blurb/train"].lacking)):
        assert "the mirror lacks https://raw.githubusercontent.com/" in reason and "and 1 more" in reason
        assert config["mirror"] not in reason
    assert facts["jnlpba"]["blurb/train"].lacking == "not part of this study"
    assert missing(made)["jnlpba"] == "not run in this study"
    said = made.left_out()
    assert any(line.startswith("left out of the tables: bc2gm (the mirror lacks https://") for line in said)
    assert any(NAME in line and APPLY in line for line in said) and len(said) == 3


def test_a_file_that_was_taken_before_is_not_lacking(specs: Path, tmp_path: Path) -> None:
    config = mirror_of(specs, tmp_path, "test.tsv")
    (url,) = targets(specs, **config).availability.unmirrored("bc2gm")
    taken = Path(targets(specs, **config).paths.source_of_url(url))
    taken.parent.mkdir(parents=True)
    taken.touch()
    assert targets(specs, **config).scope.datasets() == ["bc2gm"]


def test_with_its_files_a_dataset_is_run(specs: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The home folder may be written short."""
    monkeypatch.setenv("HOME", str(folder.parent))
    made = targets(specs, local_files={KEY: f"~/{folder.name}"})
    assert made.scope.datasets() == [NAME, "bc2gm"] and NAME not in missing(made)
    inputs = made.datasets.conversion_inputs(NAME)
    assert inputs == [f"results/demo/sources/local/{KEY}/{name}" for name in FILES.values()]
    assert made.sources.local_file(KEY, FILES["train"]) == str(folder / FILES["train"])


def test_a_mirror_brings_them_too(specs: Path, tmp_path: Path) -> None:
    made = targets(specs, mirror=mirror_of(specs, tmp_path)["mirror"])
    assert NAME not in made.scope.datasets()
    own = write_files(tmp_path / "mirror/local" / KEY)
    made = targets(specs, mirror=str(tmp_path / "mirror"))
    assert NAME in made.scope.datasets()
    assert made.sources.local_file(KEY, FILES["dev"]) == str(own / FILES["dev"])


def test_a_folder_that_lacks_a_file_is_reported_before_any_work(specs: Path, folder: Path) -> None:
    (folder / FILES["dev"]).unlink()
    with pytest.raises(PubmillError) as caught:
        targets(specs, local_files={KEY: str(folder)})
    for said in (NAME, str(folder), f"local_files.{KEY}", APPLY, "datasets:"):
        assert said in str(caught.value)
    assert str(caught.value).count(f"has no file {FILES['dev']};") == 1


def test_a_folder_that_is_not_there_is_reported_if_the_study_needs_it(specs: Path, tmp_path: Path) -> None:
    own = {KEY: str(tmp_path / "nowhere")}
    for config in ({"local_files": own}, {"mirror": own[KEY], "results": str(tmp_path / "r")}):
        with pytest.raises(PubmillError, match="is not a folder"):
            targets(specs, **config)
    assert targets(specs, datasets=["bc2gm"], local_files=own).scope.datasets() == ["bc2gm"]


def test_a_folder_with_other_datasets_of_its_key_leaves_this_one_out(changed: Path, folder: Path) -> None:
    """One registration often gives several datasets, and who wants one need not fetch all."""
    other = (changed / f"datasets/{NAME}.yaml").read_text().replace(NAME, "secret@two")
    for name in FILES.values():
        other = other.replace(name, f"second {name}")
    (changed / "datasets/secret@two.yaml").write_text(other)
    add_to_demo(changed, "secret@two")
    table = changed / f"tables/{TABLE}.yaml"
    row = f"  - {{dataset: {NAME}, label: Secret, group: ner}}\n"
    table.write_text(table.read_text().replace(row, row + row.replace(NAME, "secret@two")))
    made = targets(changed, datasets=None, local_files={KEY: str(folder)})
    reason = missing(made)["secret@two"]
    assert f"second {FILES['test']}" in reason and APPLY in reason and str(folder) not in reason
    assert NAME in made.scope.datasets() and "secret@two" not in made.scope.datasets()


def test_a_dataset_asked_for_by_name_says_what_it_needs(specs: Path, folder: Path) -> None:
    with pytest.raises(PubmillError) as caught:
        targets(specs).datasets.conversion_inputs(NAME)
    for said in (APPLY, f'local_files={{"{KEY}"', f"local/{KEY} of the mirror", *FILES.values()):
        assert said in str(caught.value)
    (folder / FILES["test"]).unlink()
    made = targets(specs, datasets=["bc2gm"], local_files={KEY: str(folder)})
    with pytest.raises(PubmillError, match=f"has no file {FILES['test']}"):
        made.datasets.conversion_inputs(NAME)


def test_one_run_names_what_all_requested_datasets_lack(specs: Path, tmp_path: Path) -> None:
    """Files of one's own and of the mirror, of several datasets, in one error."""
    config = mirror_of(specs, tmp_path, "test.tsv", "devel.tsv")
    with pytest.raises(PubmillError) as caught:
        targets(specs, **config).availability.check(NAME, "bc2gm", "none")
    text = str(caught.value)
    assert f"dataset {NAME} needs files" in text and f"local_files: {{{KEY}" in text
    assert text.count("dataset bc2gm: https://") == 2
    assert all(f"BC2GM-IOB/{name}, which does not exist" in text for name in ("devel.tsv", "test.tsv"))
    assert config["mirror"] in text and "train.tsv" not in text
    assert "there is no specs/datasets/none.yaml" in text and text.count("Fetch what is missing") == 1


def converted(specs: Path, folder: Path, output: Path) -> Path:
    recipe = conversion_recipe(NAME, targets(specs).specs.datasets[NAME])
    convert(recipe, {split: folder / name for split, name in FILES.items()}, output)
    return output


def test_only_their_owner_may_read_licensed_examples(specs: Path, folder: Path, tmp_path: Path) -> None:
    output = converted(specs, folder, tmp_path / "out")
    modes = {path.name: path.stat().st_mode & 0o077 for path in output.glob("*.jsonl.gz")}
    assert modes == {f"{split}.jsonl.gz": 0 for split in FILES}
    assert CANARY not in (output / "card.json").read_text()


@pytest.mark.parametrize("damage", ["\tB\n", "\tB\tC\n", "\t?\n"])
def test_messages_hold_no_licensed_text(specs: Path, folder: Path, tmp_path: Path, damage: str) -> None:
    path = folder / FILES["test"]
    path.write_text(f"{CANARY} {CANARY}{damage.replace('B', CANARY)}")
    with pytest.raises(PubmillError) as caught:
        converted(specs, folder, tmp_path / "out")
    assert f"{path}:1" in str(caught.value) and CANARY not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_mirror_that_lacks_files_names_the_first_and_counts_the_others(
    full_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    (tmp_path / "mirror").mkdir()
    access = graph_of(full_specs, mirror=str(tmp_path / "mirror")).availability
    seen = set()
    for name, spec in full_specs.datasets.items():
        urls = list(dict.fromkeys(file.url for file in spec.sources.values() if isinstance(file, File)))
        if len(urls) == len(spec.sources):
            more = f" and {len(urls) - 1} more" if len(urls) > 1 else ""
            assert access.dataset(name) == f"the mirror lacks {urls[0]}{more}"
            seen.add(min(len(urls), 3))
    assert seen == {1, 2, 3}


def test_a_dataset_that_the_scale_does_not_make_up_is_said_to_be(demo_graph: Graph) -> None:
    access, known = demo_graph.availability, demo_graph.specs
    lacking = [name for name in known.datasets if not access.exists(name)]
    assert lacking and set(lacking).isdisjoint(known.scale.datasets)
    assert {access.dataset(name) for name in lacking} == {"is not among the made-up data of this scale"}


MINE = """\
{name: table01, kind: results, paper: mine, title: Mine, caption: Mine., protocol: blurb, setting: standard,
 columns: [{model: pubmedbert-base, label: A}], rows: [{dataset: mine, label: Mine, group: ner}]}
"""


def add_own_table(specs: Path, file: str) -> None:
    """Write a dataset with one file for every split, and a table with it as its only row."""
    text = re.sub(r"\{local: .*?\}", file, SPEC).replace(NAME, "mine").replace("credentialed", "public")
    (specs / "datasets/mine.yaml").write_text(re.sub("apply: .*\n", "", text))
    (specs / "tables/mine").mkdir()
    (specs / "tables/mine/table01.yaml").write_text(MINE)


def test_a_dataset_of_ones_own_runs_beside_made_up_data(changed: Path, folder: Path) -> None:
    add_own_table(changed, f"{{local: mine, file: {FILES['train']}}}")
    own, local = {"tables": ["mine/table01"], "datasets": None}, {"mine": str(folder)}
    made = targets(changed, **own, local_files=local)
    assert made.scope.datasets() == ["mine"] and not made.datasets.is_made_up("mine")
    assert missing(made, "mine/table01").get("mine") is None
    trial = "demo scale, data of your own under tiny recipes: a trial"
    titles = [made.tables.recipe("mine/table01").scale_title, made.report.recipe().scale_title]
    assert titles == [trial] * 2
    both = targets(changed, tables=["mine/table01", TABLE], datasets=["mine", "bc2gm"], local_files=local)
    made_up = "demo scale, made-up data; its numbers mean nothing"
    titles = [both.tables.recipe(table).scale_title for table in ("mine/table01", TABLE)]
    assert [*titles, both.report.recipe().scale_title] == [
        trial, made_up, f"{made_up} (data of your own: mine)",
    ]  # fmt: skip
    said = targets(changed, **own).left_out()
    assert any(line.startswith("left out of the tables: mine (needs files of your own") for line in said)


def test_a_scale_that_lacks_the_requested_datasets_is_refused_before_jobs(changed: Path) -> None:
    add_own_table(changed, "{url: https://example.org/a.tsv, unchecked: made up}")
    for config, fault in (
        ({"datasets": None}, r"it lacks mine/table01: every dataset \(mine\).*pubmill new dataset ./FOLDER"),
        ({"datasets": ["mine"]}, "lacks dataset mine; mine/table01: every dataset"),
        ({"tables": [TABLE], "datasets": ["bc2gm", "linnaeus"]}, "lacks dataset linnaeus. Choose another"),
    ):
        with pytest.raises(PubmillError, match=fault):
            targets(changed, **{"tables": ["mine/table01"]} | config)
    said = targets(changed, tables=["lewis2020/table02"], datasets=None).left_out()
    assert "left out of the tables: bc4chemd (is not among the made-up data of this scale)" in said
