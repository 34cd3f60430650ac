"""Strict specs: all mistakes are reported at once, with file and line."""

from pathlib import Path

import pytest

from pubmill import specs
from pubmill.errors import PubmillError
from pubmill.recipes.models import LocalWeights, TrainingStart
from pubmill.specs import Specs
from pubmill.specs.configuration import merged_config
from pubmill.specs.loading import with_base
from pubmill.specs.study import check_study
from tests.unit.specs.toy_mistakes import mistakes, replace


@pytest.mark.parametrize("scale", specs.scales(Path(__file__).parents[3] / "specs"))
def test_all_specs_are_valid_at_every_scale(root: Path, scale: str) -> None:
    loaded = specs.load(root / "specs", scale)
    assert loaded.scale.name == scale
    assert loaded.tables["gu2020/table06"].protocol == "blurb"


def test_all_mistakes_of_all_files_are_reported_together(folder: Path) -> None:
    replace(folder / "models/no-pretraining.yaml", "kind: random", "kind: randon")
    replace(folder / "datasets/bc2gm.yaml", "metric: entity_f1", "metric: f2")
    (folder / "protocols/bad.yaml").write_text("name: bad\n  wrong: [\n")
    (folder / "vocabs/pubmed-uncased.yaml").rename(folder / "vocabs/other.yaml")
    (folder / "vocabs/mine.yaml").write_text("name: mine\nsise: 5\nsise: 5\n")
    learnt = "name: own\nkind: wordpiece\nlowercase: true\ncorpus: pubmed-abstracts\nsise: 5\n"
    (folder / "vocabs/own.yaml").write_text(learnt)
    (folder / "vocabs/kind.yaml").write_text(learnt.replace("own", "kind").replace("piece", "pice"))
    message = mistakes(folder)
    for fault in (
        "models/no-pretraining.yaml:", "datasets/bc2gm.yaml:", "protocols/bad.yaml:2: not valid YAML",
        "vocabs/other.yaml:2: name must be 'other'", "vocabs/kind.yaml:",
        "vocabs/mine.yaml:3: duplicate key 'sise', first at specs/vocabs/mine.yaml:2",
        "vocabs/own.yaml:5: sise: unknown key", "size: this key is required and missing",
    ):  # fmt: skip
        assert f"specs/{fault}" in message or fault in message, fault


def test_a_scale_is_a_file(folder: Path) -> None:
    """One YAML makes a scale; nothing else names it."""
    small = (folder / "scales/small.yaml").read_text()
    (folder / "scales/tiny.yaml").write_text(small.replace("name: small", "name: tiny"))
    assert specs.scales(folder) == ["brief", "demo", "full", "small", "speedrun", "tiny"]
    config = {"study": "x", "title": "x", "scale": "tiny", "tables": ["gu2020/table06"]}
    study, loaded = check_study(config, folder)
    assert study.scale == loaded.scale.name == "tiny"
    (folder / "scales/tiny.yaml").write_text(small)
    assert "specs/scales/tiny.yaml:3: name must be 'tiny', as the file is called" in mistakes(folder, "tiny")
    known = "the scales are brief, demo, full, small, speedrun"
    with pytest.raises(PubmillError, match=f"no specs/scales/huge.yaml; {known}"):
        specs.load(folder, "huge")


def including(folder: Path, kind: str, name: str, base: str, *lines: str) -> None:
    """A spec that includes another; its own lines begin at line 3."""
    (folder / kind / f"{name}.yaml").write_text(
        "\n".join([f"name: {name}", f"include: {base}", *lines]) + "\n"
    )


def test_of_an_included_spec_nothing_stays_beside_what_replaces_it(folder: Path) -> None:
    file = {"url": "https://example.org/a", "git_blob": "a" * 40}
    source, published = f"sources: {{train: {file}}}", "published: {files: {train: {name: mine.tsv}}}"
    including(folder, "datasets", "mine", "gad@fold-1", source, published)
    including(folder, "datasets", "cleared", "bc2gm", "expect: {}")
    including(folder, "datasets", "partly", "bc2gm", "expect: {train: {}, dev: {mentions: 1}}")
    including(folder, "models", "mine", "pubmedbert-base", "weights: {kind: folder, local: mine}")
    recipe = (folder / "pretraining/pubmedbert-base.yaml").read_text()
    started = recipe.replace("name: pubmedbert-base", "name: begun").replace("[12500, ", "[")
    started += "start: {recipe: pubmedbert-base, step: 12500}\n"
    (folder / "pretraining/begun.yaml").write_text(started)
    including(folder, "pretraining", "mine", "begun", "start: {model: pubmedbert-base}")
    loaded = specs.load(folder, "full")
    mine, base = loaded.datasets["mine"], loaded.datasets["gad@fold-1"]
    assert mine.sources["train"].model_dump(exclude_none=True) == file
    assert mine.sources["test"] == base.sources["test"]
    assert mine.published and mine.published.files["train"].sha256 is None
    assert mine.published.files["test"].sha256 and mine.published.options
    assert loaded.datasets["cleared"].expect == {}
    partly = loaded.datasets["partly"].expect
    assert partly["train"] == {} and partly["dev"]["mentions"] == 1 and partly["dev"]["tokens"]
    assert loaded.models["mine"].weights == LocalWeights(local="mine")
    assert loaded.pretraining["mine"].start == TrainingStart(model="pubmedbert-base")


def test_a_mistake_is_reported_in_the_file_that_has_it_and_once(folder: Path) -> None:
    lines = ("label: x", "sources:", "  train: {git_blob: x}", "expekt: {}")
    including(folder, "datasets", "mine", "bc2gm", *lines)
    including(folder, "datasets", "fewer", "bc2gm", "splits: [train, test]")
    replace(folder / "datasets/gad@fold-1.yaml", "kind: sequence", "kind: sequense")
    for name, base in (("a", "nobody"), ("b", "../vocabs/pubmed-uncased"), ("c", "[bc2gm]")):
        including(folder, "datasets", name, base)
    found = mistakes(folder, "full").splitlines()
    for start in (
        "mine.yaml:5: sources.train.url: this key is required and missing",
        "mine.yaml:6: expekt: unknown key; the nearest: expect",
        "fewer.yaml:2 includes specs/datasets/bc2gm.yaml:",
        "a.yaml:2: there is no nobody.yaml in the same folder; the nearest: ",
        "b.yaml:2: expected the name of a spec",
        "c.yaml:2: expected the name",
    ):
        line = next(line for line in found if line.startswith(f"specs/datasets/{start}"))
        if start.startswith("fewer"):
            assert ": expect: names dev, but the dataset's splits are train, test (found" in line
    assert not [line for line in found if line.startswith("specs/datasets/bc2gm.yaml")]
    assert len([line for line in found if "sequense" in line]) == 1


def test_other_mistakes_beside_one_in_include_are_reported(folder: Path) -> None:
    including(folder, "datasets", "mine", "nobody", "expekt: {}", "metric: 3")
    found = mistakes(folder, "full").splitlines()
    lines = [line.split(":")[1] for line in found if line.startswith("specs/datasets/mine.yaml")]
    assert sorted(lines) == ["2", "3", "4"]


def test_only_one_level_of_include_is_followed(tmp_path: Path) -> None:
    for name, text in (("a", "include: b\nsize: 1"), ("b", "include: c\nkind: k"), ("c", "kind: other")):
        (tmp_path / f"{name}.yaml").write_text(f"name: {name}\n{text}\n")
    errors: list[str] = []
    document, base = with_base(tmp_path / "a.yaml", "specs/vocabs/a.yaml", errors, "vocabs")
    assert (document.value, base) == ({"name": "a", "kind": "k", "size": 1}, "b")
    assert errors == ["specs/vocabs/a.yaml:2: b itself has an `include`; only one level is allowed"]
    assert document.where(("kind",)) == "specs/vocabs/a.yaml:2 includes specs/vocabs/b.yaml:3"
    errors.clear()
    document, base = with_base(tmp_path / "b.yaml", "specs/vocabs/b.yaml", errors, "vocabs")
    assert (document.value, base, errors) == ({"name": "b", "kind": "k"}, "c", [])


def test_a_count_that_is_null_takes_back_that_of_the_included_spec(full_specs: Specs) -> None:
    typed, protein = (full_specs.datasets[f"jnlpba@{name}"] for name in ("typed", "protein"))
    assert typed.expect["train"]["mentions.DNA"] and "mentions.DNA" not in protein.expect["train"]
    assert protein.expect["train"]["tokens"] == typed.expect["train"]["tokens"]


@pytest.mark.parametrize(
    "study", sorted((Path(__file__).parents[3] / "studies").glob("*.yaml")), ids=lambda path: path.stem
)
def test_every_study_is_sound(root: Path, study: Path) -> None:
    checked, _ = check_study(merged_config(root / "config.yaml", [str(study)], []), root / "specs")
    assert checked.study == study.stem


def test_a_variant_has_no_hash_of_the_form_that_it_includes(full_specs: Specs) -> None:
    """Only BLURB's GAD is fold 1 of BioBERT's; every other known file is that of one dataset."""
    known: dict[str, set[str]] = {}
    for name, spec in full_specs.datasets.items():
        for file in spec.published.files.values() if spec.published else ():
            if file.sha256:
                known.setdefault(file.sha256, set()).add(name)
    assert len(known) >= 64
    assert [names for names in known.values() if len(names) > 1] == [{"gad@blurb", "gad@fold-1"}]


@pytest.mark.parametrize(("files", "fault"), [(0, "block_files"), (1, None)])
def test_a_job_works_on_one_file_at_least(folder: Path, files: int, fault: str | None) -> None:
    replace(folder / "scales/demo.yaml", "block_files: 2", f"block_files: {files}")
    if fault:
        assert fault in mistakes(folder, "demo")
    else:
        assert specs.load(folder, "demo").scale.block_files == files
