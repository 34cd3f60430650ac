"""Damaged results are found, and the command that builds them again is printed."""

import hashlib
import json
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pubmill.corpus.shards import Document, write_shard
from pubmill.inspection.damaged_results import CheckedFile, examine, report
from pubmill.metrics.contributions import Contributions, Items, write_items
from pubmill.storage.blocks import Item, make_block
from pubmill.storage.checksums import write_folder_sums, write_formats, write_predictions
from pubmill.storage.files import sealed, sha256, write_json, write_jsonl_gz
from tests.unit.programs import Ended, make_checkout, run_verb
from tests.unit.toy_shards import make_shard, write_packed

SPECIAL = {"pad": 0, "unk": 1, "cls": 2, "sep": 3, "mask": 4}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """One result of each kind, and some without a checksum."""
    made = tmp_path / "results"
    write_results(made)
    write_json(made / "source.xml.source.json", {"sha256": hashlib.sha256(b"source").hexdigest()})
    write_json(made / "table.json", {"cells": []})
    (made / "table.md").write_text("a table")
    (made / ".table.md.host.1.tmp").write_text("half a table")
    return made


def write_results(made: Path) -> None:
    write_shard(made / "shard.parquet", [Document(id="1")], source="s", file="f", order=0)
    write_predictions(made / "seed-1.predictions.jsonl.gz", [{"id": "1"}], {"seed": 1})
    write_jsonl_gz(made / "bc2gm/test.jsonl.gz", [{"id": "1"}])
    card = {"examples_sha256": {"test": sha256(made / "bc2gm/test.jsonl.gz")}}
    write_json(made / "bc2gm/card.json", sealed(card))
    for folder in ("models/bert", "final/kept"):
        (made / folder).mkdir(parents=True)
        (made / folder / "model.safetensors").write_bytes(b"weights")
        write_folder_sums(made / folder)
    write_formats(made / "page", {"scores": [1]}, {"html": str, "json": json.dumps})
    write_json(made / "seed-1.json", sealed({"score": 1.0}))
    write_items(
        made / "seed-1.items.npz", Items("tokens", "example", "d", Contributions(("a",), np.ones((9, 1))))
    )
    write_packed(made / "tokens", [make_shard([[[5, 6], [7]]], 9)], 9, SPECIAL)
    (made / "step-1").mkdir()
    (made / "step-1" / "model.safetensors").write_bytes(b"weights")
    digests = {"model.safetensors": sha256(made / "step-1" / "model.safetensors")}
    write_json(made / "step-1" / "state.json", sealed({"step": 1, "files": digests}))
    (made / "source.xml").write_bytes(b"source")


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // (4 if path.suffix == ".npz" else 2)] ^= 1  # a byte that a zip file stores once
    path.write_bytes(content)


def damaged(results: Path) -> dict[str, str]:
    """Return path -> target of the damaged files, both below the results."""
    return {
        str(one.path.relative_to(results)): str(one.target.relative_to(results))
        for one in examine(results)
        if one.fault
    }


def test_whole_results_are_whole(results: Path) -> None:
    bare = {one.path.name for one in examine(results) if one.fault == ""}
    assert damaged(results) == {}
    assert bare == {"table.json", "table.md", "source.xml.source.json"}
    assert list(report(examine(results))) == [
        "24 files: 21 agree with their checksums, 0 are damaged, 3 have no checksum"
    ]


def test_files_of_a_block_are_made_again_by_its_job(tmp_path: Path) -> None:
    """Also those that are gone, although Snakemake does not know them."""
    folder, block = tmp_path / "corpora/c", "corpora/c/blocks/s/a+2.json"
    files = [folder / f"{name}.json" for name in "abc"]
    items = [Item([file], file.stem, partial(write_json, file, sealed({"of": file.stem}))) for file in files]
    make_block(tmp_path / block, items)
    assert damaged(tmp_path) == {}
    files[0].unlink()
    files[1].write_text(files[1].read_text().replace('"b"', '"x"'))
    assert damaged(tmp_path) == {"corpora/c/a.json": block, "corpora/c/b.json": block}
    make_block(tmp_path / block, items)  # as the command that is printed does
    assert damaged(tmp_path) == {}


TARGETS = {
    **{name: name for name in ("shard.parquet", "seed-1.predictions.jsonl.gz", "seed-1.json", "page.html")},
    **{name: name for name in ("seed-1.items.npz", "source.xml", "bc2gm/test.jsonl.gz", "page.json")},
    **{f"tokens/{name}": "tokens/index.json" for name in ("ids.bin", "sentences.npy", "index.json")},
    **{f"step-1/{name}": "step-1/state.json" for name in ("model.safetensors", "state.json")},
    "models/bert/model.safetensors": "models/bert/tokenizer.json",
    "final/kept/model.safetensors": "final/kept",
}


def test_a_flipped_bit_is_found_also_if_the_file_has_its_old_time(results: Path) -> None:
    for name, target in TARGETS.items():
        path, content = results / name, (results / name).read_bytes()
        before = path.stat()
        flip(path)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert damaged(results) == {name: target}
        path.write_bytes(content)


def test_an_empty_random_or_missing_file_is_found(results: Path) -> None:
    (results / "step-1/model.safetensors").unlink()
    names = ("seed-1.predictions.jsonl.gz", "seed-1.json", "seed-1.items.npz", "shard.parquet")
    for content in (b"", b"PAR1 and other bytes"):
        for name in names:
            (results / name).write_bytes(content)
        expected = {name: name for name in names} | {"step-1/model.safetensors": "step-1/state.json"}
        assert damaged(results) == expected


def test_damaged_files_of_a_run_are_made_again_by_its_job(results: Path) -> None:
    run, stem = results / "runs/p/m/d/s", "seed-1"
    for folder, name in (("final", "runs.json"), ("trials", "lr=1.json")):
        below = f"lr=2/{stem}" if folder == "trials" else stem
        path = run / folder / f"{below}.predictions.jsonl.gz"
        path.parent.mkdir(parents=True)
        write_jsonl_gz(path, [{"id": "1"}])
        write_json(path.with_name(f"{stem}.training.json"), sealed({"predictions_sha256": sha256(path)}))
        files = {f"{below}.predictions.jsonl.gz": sha256(path)}
        write_json(run / folder / name, sealed({"seeds": [], "files": files}))
        flip(path)
    (run / "models/seed-1").mkdir(parents=True)
    (run / "models/seed-1/SHA256SUMS").write_text(f"{'0' * 64}  head.safetensors\n")
    (run / "final/seed-1.items.npz").write_bytes(b"")
    below = "runs/p/m/d/s"
    assert damaged(results) == {
        f"{below}/final/seed-1.items.npz": f"{below}/final/records.json",
        f"{below}/final/seed-1.predictions.jsonl.gz": f"{below}/final/runs.json",
        f"{below}/models/seed-1/head.safetensors": f"{below}/final/runs.json",
        f"{below}/trials/lr=2/seed-1.predictions.jsonl.gz": f"{below}/trials/lr=1.json",
    }


def test_predictions_and_examples_that_were_edited_are_found(results: Path) -> None:
    """The files are sound, but not those that were written."""
    for name in ("seed-1.predictions.jsonl.gz", "bc2gm/test.jsonl.gz"):
        write_jsonl_gz(results / name, [{"id": "2"}])
    assert damaged(results) == {
        "seed-1.predictions.jsonl.gz": "seed-1.predictions.jsonl.gz",
        "bc2gm/test.jsonl.gz": "bc2gm/test.jsonl.gz",
    }


@pytest.mark.parametrize("content", ["nothing", ""])
def test_a_list_that_is_not_one_is_found(results: Path, content: str) -> None:
    for name in ("page.sha256", "models/bert/SHA256SUMS"):
        (results / name).write_text(content)
    assert damaged(results) == {
        "page.sha256": "page.html", "models/bert/SHA256SUMS": "models/bert/tokenizer.json"
    }  # fmt: skip


def test_the_program_prints_the_command_and_ends_with_a_status(results: Path) -> None:
    make_checkout(results.parent)

    def run() -> Ended:
        return run_verb("doctor", "fsck", checkout=results.parent)

    assert run().returncode == 0
    flip(results / "tokens" / "ids.bin")
    done = run()
    assert done.returncode == 1
    assert "damaged: results/tokens/ids.bin: its SHA-256 differs from that in index.json" in done.stdout
    assert ".venv/bin/pubmill run demo results/tokens/index.json --force" in done.stdout
    assert "Traceback" not in done.stderr


def test_damaged_files_are_listed_with_one_command_for_all() -> None:
    found = [
        CheckedFile(Path("b.gz"), "it is empty", Path("b.gz")),
        CheckedFile(Path("a.bin"), "it is missing", Path("a.json")),
        CheckedFile(Path("c.bin"), "it is missing", Path("a.json")),
        CheckedFile(Path("d.txt"), "", Path("d.txt")),
        *(CheckedFile(Path(f"{number}.gz"), None, Path("x")) for number in range(1200)),
    ]
    assert list(report(found)) == [
        "damaged: b.gz: it is empty", "damaged: a.bin: it is missing", "damaged: c.bin: it is missing",
        "1,204 files: 1,200 agree with their checksums, 3 are damaged, 1 have no checksum",
        "Build the damaged files again, with the configuration that they were built with:",
        "  .venv/bin/pubmill run demo a.json b.gz --force",
    ]  # fmt: skip
    assert list(report(found[3:])) == [
        "1,201 files: 1,200 agree with their checksums, 0 are damaged, 1 have no checksum"
    ]


def test_only_digests_of_files_are_compared(tmp_path: Path) -> None:
    """Other entries of `files`, and digests of another length, belong to something else."""
    (tmp_path / "a.bin").write_bytes(b"a")
    (tmp_path / ".hidden.json").write_text("{")
    files = {"a.bin": "0" * 64, "b.bin": "0" * 63, "c.bin": 5}
    write_json(tmp_path / "state.json", {"files": files})
    write_json(tmp_path / "list.json", {"files": ["a.bin"]})
    write_json(tmp_path / "x.json", ["files"])
    faults = {one.path.name: one.fault for one in examine(tmp_path)}
    assert faults == {
        "a.bin": "its SHA-256 differs from that in state.json", "list.json": "", "state.json": "",
        "x.json": "",
    }  # fmt: skip


def test_each_scale_is_built_again_by_a_study_of_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    names = [f"results/{scale}/vocabs/x.json" for scale in ("demo", "full", "small")]
    *_, demo, full, small = report([CheckedFile(Path(name), "it is empty", Path(name)) for name in names])
    assert demo == f"  .venv/bin/pubmill run demo {names[0]} --force"
    for line, name in ((full, names[1]), (small, names[2])):
        _, verb, study, *others = line.split()
        assert (verb, others) == ("run", [name, "--force"])
        assert f"scale: {name.split('/')[1]}\n" in (root / f"studies/{study}.yaml").read_text()
