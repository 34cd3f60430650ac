"""Whether models are available: their weights, the user's folders and files, what they begin with."""

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import ModelSpec, Specs
from pubmill.specs.study import Study, with_own_weights
from pubmill.stages import Graph, checked_graph
from pubmill.stages import availability as digests
from pubmill.stages.availability import Digests
from tests.unit.toy_studies import GraphOf


def test_weights_in_a_folder_that_is_not_named_are_an_obstacle(
    full_graph: Graph, full_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    """Also those that another model begins with."""
    advice = "in a folder of your own (then set local_files: megatron-345m-cased)"
    access = full_graph.availability
    assert access.model("megatron-345m-cased") == f"needs its weights {advice}"
    of_another = f"needs the weights of megatron-345m-cased {advice}"
    assert access.model("biomegatron-345m@bert-cased-ft") == of_another
    assert access.model("biobert-base") is None
    named = graph_of(full_specs, local_files={"megatron-345m-cased": str(tmp_path)}).availability
    assert named.model("megatron-345m-cased") is None


def test_notes_to_apply_for_are_an_obstacle_of_models_pretrained_on_them(
    full_graph: Graph, full_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    specs, model = with_own_weights(full_specs, ("bio-lm-base@pm-m3",)), "bio-lm-base@pm-m3"
    without = graph_of(specs, tables=("lewis2020/table03",))
    assert model not in without.scope.models() and any(
        f"{model} (is pret" in one for one in without.left_out()
    )
    assert "MIMIC-III, which must be applied for" in without.tables.recipe("lewis2020/table03").missing[model]
    found = str(without.availability.model(model))
    assert found.startswith("is pretrained here on MIMIC-III, which must be applied for")
    assert full_graph.availability.model(model) is None, "it was released"
    assert graph_of(specs, local_files={"mimic-iii": str(tmp_path)}).availability.model(model) is None


def test_a_model_is_left_out_until_the_texts_of_ones_own_are_there(
    full_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    def why(*folders: str) -> str | None:
        graph = graph_of(full_specs, local_files=dict.fromkeys(folders, str(tmp_path)))
        return graph.availability.model("modernbert-bio-base@masked-10b")

    assert str(why()).startswith("is pretrained here on texts that you provide (biomed-enriched")
    assert str(why("biomed-enriched-clinical")).endswith("then set local_files: mediflow)")
    assert why("biomed-enriched-clinical", "mediflow") is None


def test_exports_name_the_files_that_they_are_made_from(full_graph: Graph, demo_graph: Graph) -> None:
    for graph, model, options in (
        (full_graph, "biobert-base", []),  # the spec pins the commit
        (demo_graph, "pubmedbert-base", ["--vocab", "--checkpoint", "--statistics"]),
        (demo_graph, "no-pretraining", ["--vocab"]),
    ):
        assert [word for word in graph.models.arguments(model) if word.startswith("--")] == options


@pytest.mark.parametrize("brace", ["{", "}"])
def test_a_folder_whose_path_has_a_brace_is_refused(
    full_specs: Specs, graph_of: GraphOf, tmp_path: Path, brace: str
) -> None:
    with pytest.raises(PubmillError, match="Snakemake takes braces in a path for wildcards"):
        graph_of(full_specs, local_files={"mine": f"{tmp_path}/a{brace}b"}).folders.find("mine")


def test_folders_are_those_of_the_configuration_or_of_the_mirror(
    full_graph: Graph, full_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    (tmp_path / "local/mine").mkdir(parents=True)
    mirrored = graph_of(full_specs, mirror=str(tmp_path)).folders
    assert mirrored.find("mine") == tmp_path / "local/mine"
    assert (mirrored.find("other"), mirrored.setting("mine")) == (None, "local/mine of the mirror")
    both = graph_of(full_specs, mirror=str(tmp_path), local_files={"mine": "/elsewhere"}).folders
    assert (both.find("mine"), both.setting("mine")) == (Path("/elsewhere"), "local_files.mine")
    assert full_graph.folders.find("mine") is None
    with pytest.raises(PubmillError, match="corpus c needs files of your own: .*; local_files has only mine"):
        both.require("other", "corpus c")


def test_a_table_for_models_of_ones_own_has_their_columns_first(full_specs: Specs, graph_of: GraphOf) -> None:
    name, asked = "gu2020/table06", {"models": ["pubmedbert-base"], "datasets": ["bc2gm", "jnlpba"]}
    usual = graph_of(full_specs, tables=[name], **asked).tables.recipe(name)
    assert len(usual.rows) == 13 and usual.columns[0].key == "bert-base-uncased" and not usual.own
    own = graph_of(full_specs, tables=[name], own_tables="mine", **asked).tables.recipe(name)
    assert own.columns[0].key == "pubmedbert-base" and len(own.columns) == 9
    assert own.own == ("pubmedbert-base",)
    assert [row.key for row in own.rows] == ["bc2gm", "jnlpba"] and own.composites == ()
    assert {place for reason in own.reasons for place in reason.cells} <= {
        "pubmedbert-base/", "pubmedbert-base/bc2gm", "pubmedbert-base/jnlpba", "/bc2gm", "/jnlpba",
    }  # fmt: skip
    whole = {"models": ["pubmedbert-base"], "own_tables": "mine"}
    assert len(graph_of(full_specs, tables=[name], **whole).tables.recipe(name).composites) == 1


def test_a_model_depends_on_the_content_of_its_own_folder(full_specs: Specs, tmp_path: Path) -> None:
    weights = tmp_path / "weights"
    weights.mkdir()
    files = [weights / name for name in ("config.json", "model.safetensors", "vocab.txt")]
    for path in files:
        path.touch()
    mine = {"name": "mine", "lowercase": True, "tables": ["gu2020/table06"]}
    spec = ModelSpec.model_validate(mine | {"weights": {"kind": "folder", "local": "mine"}})
    specs = full_specs.model_copy(update={"models": {**full_specs.models, "mine": spec}})

    def graph(folder: str | None = str(weights), **study: Any) -> Graph:
        local = {} if folder is None else {"mine": folder}
        config = {"study": "x", "title": "x", "scale": "full", "tables": ["gu2020/table06"]}
        return checked_graph(Study.model_validate(config | {"local_files": local} | study), specs)

    made = graph()
    assert "mine" in made.models.own() and made.models.own_folder("mine") == weights
    assert made.digests.of_folder(made.models.own_folder("mine")) == {
        path.name: sha256(b"").hexdigest() for path in files
    }
    assert [column.model for column in made.tables.recipe("gu2020/table06").columns][-1] == "mine"
    made = graph(None)
    reported = "needs its weights in a folder of your own (then set local_files: mine)"
    missing = made.tables.recipe("gu2020/table06").missing
    assert missing["mine"] == reported and "mine" not in made.scope.models()
    assert made.left_out()[-1] == f"left out of the tables: mine ({reported})"
    with pytest.raises(PubmillError, match="model mine needs files of your own: set local_files"):
        made.models.own_folder("mine")
    assert graph(models=["pubmedbert-base"]).left_out()[-2] == (
        "left out of the tables: mine (its spec names gu2020/table06, which the study runs; "
        "add it to the study's `models:`)"
    )
    with pytest.raises(PubmillError, match=r"model mine: /nowhere \(local_files\.mine\) does not exist"):
        graph("/nowhere")
    with pytest.raises(PubmillError, match="does not exist; correct the path, or the folder"):
        graph("/nowhere", models=["pubmedbert-base"]).models.own_folder("mine")
    for path in files:
        kept = path.rename(tmp_path / "kept")
        lack = path.name if path.suffix == ".json" else "weights" if path.suffix != ".txt" else "tokenizer"
        with pytest.raises(PubmillError, match=rf"\(local_files\.mine\) has no {lack}.*; its files: "):
            graph()
        kept.rename(path)
    graph()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that counts as settled."""
    monkeypatch.setattr(digests, "SETTLED", -1.0)
    path = tmp_path / "own files" / "a.tsv"
    path.parent.mkdir()
    path.write_bytes(b"one")
    return path


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were read to be hashed."""
    paths: list[Path] = []

    def counted(path: Path) -> str:
        paths.append(path)
        return sha256(path.read_bytes()).hexdigest()

    monkeypatch.setattr(digests, "sha256", counted)
    return paths


def test_a_file_is_hashed_once_also_by_later_processes(file: Path, tmp_path: Path, read: list[Path]) -> None:
    store = tmp_path / "results/.digests.jsonl"
    for _ in range(3):
        assert Digests(store).of(file) == sha256(b"one").hexdigest()
    assert read == [file]
    assert store.stat().st_mode & 0o077 == 0


def test_content_that_changes_is_seen_even_with_the_old_size_and_time(
    file: Path, tmp_path: Path, read: list[Path]
) -> None:
    made, before = Digests(tmp_path / "store"), file.stat()
    made.of(file)
    file.write_bytes(b"two")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert made.of(file) == sha256(b"two").hexdigest() == Digests(tmp_path / "store").of(file)
    assert len(read) == 2


def test_a_file_that_has_just_changed_is_hashed_again(
    file: Path, tmp_path: Path, read: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "SETTLED", 3600.0)
    for _ in range(2):
        Digests(tmp_path / "store").of(file)
    assert len(read) == 2 and not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    "content", ["", "\n{\n[]\n", '["a", 1', '["a", 1, 2, 3, 4, 5]\nnull\n"x"\n', "\udcff",
     '[[1], 2, 3, 4, "5"]', '"abcde"', "[" * 100_000],
)  # fmt: skip
def test_a_damaged_store_costs_time_alone(file: Path, tmp_path: Path, read: list[Path], content: str) -> None:
    store = tmp_path / "store"
    store.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert Digests(store).of(file) == sha256(b"one").hexdigest()


def test_a_store_that_cannot_be_written_costs_time_alone(file: Path, tmp_path: Path) -> None:
    (tmp_path / "results").write_text("no folder")
    assert Digests(tmp_path / "results/store").of(file) == sha256(b"one").hexdigest()


def test_a_folder_is_known_by_names_and_contents(file: Path, tmp_path: Path) -> None:
    made = Digests(tmp_path / "store")
    assert made.of_folder(file.parent) == {"a.tsv": sha256(b"one").hexdigest()}
    (file.parent / "b").mkdir()
    (file.parent / "b/c").touch()
    assert list(made.of_folder(file.parent)) == ["a.tsv"]
