"""Finished results that were exchanged, changed by one bit with their old time, or truncated: whoever reads
them ends with one message that names the file, what was expected, and what to do."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.corpus.document_versions import write_latest
from pubmill.corpus.shards import Document, read_shard, write_shard
from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample, write_examples
from pubmill.metrics.run_manifests import write_manifest
from pubmill.recipes.models import ExportRecipe, PretrainedWeights
from pubmill.recipes.reading import STORED, StoredRecipe, as_json
from pubmill.recipes.vocabs import FitRecipe
from pubmill.storage.checksums import write_folder_sums, write_formats
from pubmill.storage.files import sealed, sha256, write_json, writing_folder
from pubmill.storage.parquet import read_texts
from pubmill.vocabs.word_counts import write_counts
from tests.unit.convert import test_dataset as conversion
from tests.unit.metrics.test_records import RECIPE, Run
from tests.unit.pretraining.toy_pretraining import RECIPE as PRETRAINING
from tests.unit.pretraining.toy_pretraining import make_data, pretrain
from tests.unit.programs import make_checkout, run_program, run_verb
from tests.unit.tiny_encoders import tiny_bert
from tests.unit.toy_tasks import TOKENS, write_dataset

RUN = "runs/p/own/gad/s/final"


def refused(name: str, **options: object) -> str:
    """Return the message of a program that ends with status 1."""
    with pytest.raises(SystemExit) as ended:
        run_program(name, *words_of(**options))
    assert isinstance(ended.value.code, str)  # which Python prints, with status 1
    return ended.value.code


def words_of(**options: object) -> list[object]:
    return [word for option, value in options.items() for word in (f"--{option}", value)]


def exchange(one: Path, other: Path) -> None:
    aside = one.with_name("aside")
    for source, target in ((one, aside), (other, one), (aside, other)):
        source.rename(target)


ADVICE = "`.venv/bin/pubmill doctor fsck` finds all such files"


def flip(path: Path) -> None:
    """Change one bit of a file, which keeps its time."""
    state, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def dataset(folder: Path, word: str) -> Path:
    """A dataset whose splits have one sentence with this word."""
    digests = {}
    for split in ("train", "dev", "test"):
        sentence = TokensExample(id=f"{split}-1", document=None, words=[word, split], labels=["B", "O"])
        write_examples(folder / f"{split}.jsonl.gz", [sentence])
        digests[split] = sha256(folder / f"{split}.jsonl.gz")
    write_json(folder / "card.json", sealed({"dataset": folder.name, "examples_sha256": digests}))
    return folder


def model(folder: Path) -> Path:
    tiny_bert(folder, [folder.name, "ba", "co"])
    write_folder_sums(folder, folder.name)
    return folder


def write_two_shards(folder: Path) -> Path:
    for name in "ba":
        path = folder / f"{name}.parquet"
        write_shard(path, [Document(id=name, title="A")], source=folder.name, file=f"{name}.xml.gz", order=0)
    return path


@pytest.mark.parametrize(
    "one, other, fault",
    [
        ("gad/test.jsonl.gz", "hoc/test.jsonl.gz", "gad/test.jsonl.gz has changed since it was written"),
        ("gad/dev.jsonl.gz", "gad/test.jsonl.gz", "gad/test.jsonl.gz has changed since it was written"),
        ("gad", "hoc", "gad is in a wrong place: it states that it is 'hoc', expected 'gad'"),
    ],
)
def test_exchanged_datasets_are_not_scored(tmp_path: Path, one: str, other: str, fault: str) -> None:
    folder, run = tmp_path / "results/datasets", Run(tmp_path)
    for name in ("gad", "hoc"):
        dataset(folder / name, name)
    exchange(folder / one, folder / other)
    write_json(run.training_file, run.training)
    write_manifest(runs := run.training_file.with_name("runs.json"), ["seed-3"])
    places = {"examples": folder / "gad/test.jsonl.gz", "output": runs.with_name("records.json")}
    message = refused("score", recipe=as_json(replace(RECIPE, dataset="gad")), runs=runs, **places)
    assert message.startswith(f"pubmill: error: {folder}/{fault}") and ADVICE in message


@pytest.mark.parametrize(
    "damage, fault",
    [
        (lambda own: flip(own / "model.safetensors"), "/model.safetensors has changed"),
        (lambda own: (own / "config.json").unlink(), "/config.json has changed"),
        (lambda own: exchange(own, own.with_name("else")), " is in a wrong place: it states"),
        (lambda own: (own / "SHA256SUMS").write_text(""), "/SHA256SUMS is not a list of SHA-256"),
    ],
)
def test_exchanged_and_damaged_models_are_not_fine_tuned(
    tmp_path: Path, damage: Callable[[Path], object], fault: str
) -> None:
    own, data = model(tmp_path / "models/own"), write_dataset(tmp_path / "data", "tokens")
    model(tmp_path / "models/else")
    damage(own)
    output = tmp_path / "final/runs.json"
    options = {"recipe": as_json(TOKENS), "seeds": 1, "split": "test", "output": output}
    message = refused("finetune", model=own, dataset=data, **options)
    assert message.startswith(f"pubmill: error: {own}{fault}") and ADVICE in message
    assert not output.exists()


def test_a_damaged_task_model_does_not_predict(tmp_path: Path) -> None:
    data, folder = write_dataset(tmp_path / "data", "tokens"), tmp_path / "models/seed-1"
    options = {"recipe": as_json(replace(TOKENS, epochs=1)), "seeds": 1, "split": "test", "keep": folder}
    output = tmp_path / "final/runs.json"
    run_program("finetune", *words_of(model=model(tmp_path / "bert"), dataset=data, output=output, **options))
    flip(folder / "head.safetensors")
    (tmp_path / "new.txt").write_text("ba co")
    done = run_verb("predict", folder, tmp_path / "new.txt", tmp_path / "out")
    said = f"pubmill: error: {folder}/head.safetensors has changed since it was written"
    assert done.returncode == 1 and done.stderr.startswith(said)


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pretrained")
    for vocab, recipe, seed in (("vocabs/own", "pretraining/own", 1), ("vocabs/else", "pretraining/else", 2)):
        make_data(folder / vocab)
        write_json(folder / vocab / "diagnosis.json", {"size": 30, "documents": 7, "words": 99})
        write_folder_sums(folder / vocab, vocab.rpartition("/")[2])
        pretrain(folder / vocab, folder / recipe / "step-1", 1, recipe=replace(PRETRAINING, seed=seed))
    return folder


EXPORT = ExportRecipe(
    model="m", lowercase=True, weights=PretrainedWeights(recipe="own", step=1), pretraining=PRETRAINING
)


def test_exchanged_and_damaged_checkpoints_and_vocabularies_are_not_exported(
    tmp_path: Path, pretrained: Path
) -> None:
    at, output = tmp_path / "results", tmp_path / "results/models/m"
    own, recipe = at / "vocabs/own", at / "pretraining/own"
    places = {"checkpoint": recipe / "step-1", "vocab": own, "output": output}
    fit = as_json(FitRecipe(vocab="own", datasets={"gad": "tokens"}))
    dataset(tmp_path / "gad", "a")
    fitted = {"recipe": fit, "datasets": tmp_path, "output": tmp_path / "x.json"}
    for damage, fault in (
        (lambda: flip(recipe / "step-1/model.safetensors"), "model.safetensors is damaged: it has"),
        (lambda: exchange(recipe, at / "pretraining/else"), "another pretraining recipe"),
        (lambda: flip(own / "tokenizer.json"), "tokenizer.json has changed since it was written"),
        (lambda: exchange(own, at / "vocabs/else"), "vocabs/own is in a wrong place"),
    ):
        shutil.rmtree(at, ignore_errors=True)
        shutil.copytree(pretrained, at)
        damage()
        message = refused("export_model", recipe=as_json(EXPORT), **places)
        assert message.startswith("pubmill: error: ") and fault in message
        assert ADVICE in message and not output.exists()
        if "tokenizer" in fault:
            said = refused("vocab_diagnosis", vocab=own, **fitted)
            assert said.startswith(f"pubmill: error: {own}/tokenizer.json has changed")


def test_a_changed_table_is_not_shown(tmp_path: Path) -> None:
    table = tmp_path / "tables/gu2020/table06.json"
    write_formats(table.with_suffix(""), {"value": 60.19}, {"json": as_json, "md": str})
    table.write_text(table.read_text().replace("60.19", "70.19"))
    message = refused("compare", table=table, results=tmp_path, output=tmp_path / "compared")
    said = f"pubmill: error: {table} has changed since it was written, or is another file: its"
    assert message.startswith(said) and f"as in table06.sha256. {ADVICE}" in message


def test_a_changed_recipe_is_not_followed_and_the_next_run_writes_it_anew(tmp_path: Path) -> None:
    stored = StoredRecipe(as_json(RECIPE), tmp_path / STORED)
    stored.write()
    path = stored.path
    flip(path)
    run = Run(tmp_path)
    places = {"runs": tmp_path / "runs.json", "examples": run.examples}
    message = refused("score", recipe=path, output=tmp_path / "records.json", **places)
    assert message.startswith(f"pubmill: error: --recipe: {path} has changed since its run wrote it")
    stored.write()
    assert path.read_bytes() == stored.encode()


@pytest.mark.parametrize("is_exchanged", [False, True])
def test_exchanged_and_damaged_sources_are_not_converted(tmp_path: Path, is_exchanged: bool) -> None:
    mirror, folder = tmp_path / "mirror/host", tmp_path / "results/sources/host"
    mirror.mkdir(parents=True)
    for name, text in (("train.tsv", conversion.TRAIN), ("devel.tsv", conversion.DEV)):
        (mirror / name).write_text(text)
        places = words_of(url=f"https://host/{name}", output=folder / name, mirror=mirror.parent)
        run_program("download", *places)
    if is_exchanged:
        for ending in ("", ".source.json"):
            exchange(folder / f"train.tsv{ending}", folder / f"devel.tsv{ending}")
    else:
        flip(folder / "train.tsv")
    words = ("--input", f"train={folder}/train.tsv", "--input", f"dev={folder}/devel.tsv")
    with pytest.raises(SystemExit) as ended:
        run_program("convert", "--recipe", as_json(conversion.RECIPE), "--output", tmp_path / "toy", *words)
    message, fault = str(ended.value.code), "train.tsv.source.json is that of http"
    assert f"{folder}/train.tsv is not the file that was downloaded: " in message and ADVICE in message
    assert (fault if is_exchanged else "its SHA-256 is") in message


@pytest.mark.parametrize("damage", [truncate, lambda path: path.write_bytes(b""), flip])
def test_a_damaged_or_exchanged_input_in_parquet_is_named(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    one = write_two_shards(tmp_path / "corpora/parsed/pubmed")
    exchange(one, one.with_name("b.parquet"))
    with pytest.raises(PubmillError, match=f"^{one}: it is the shard of b.xml.gz of pubmed.*{ADVICE}"):
        list(read_shard(one))
    part = tmp_path / "part.parquet"
    write_shard(part, [Document(id="1", title="A word")], source="s", file="part", order=0)
    damage(part)
    for read in (
        lambda: write_counts(part, "white-space", tmp_path / "output"),
        lambda: write_latest(tmp_path / "output", [part], [0]),
        lambda: list(read_texts([part])),
        lambda: list(read_shard(part)),
    ):
        with pytest.raises(PubmillError, match=f"^{part} is damaged: it .*{ADVICE}"):
            read()


def test_a_folder_that_was_moved_to_another_disk_and_linked_is_made_again_there(tmp_path: Path) -> None:
    elsewhere, place = tmp_path / "disk/own", tmp_path / "models/own"
    for text in ("old", "new", "newest"):
        with writing_folder(place) as folder:
            (folder / "file").write_text(text)
        if text == "old":
            elsewhere.parent.mkdir()
            place.rename(elsewhere)
            place.symlink_to(elsewhere)
        assert place.is_symlink() and (elsewhere / "file").read_text() == text
    assert [path.name for path in place.parent.iterdir()] == ["own"]
    assert [path.name for path in elsewhere.parent.iterdir()] == ["own"]


EXCHANGED = [
    ("datasets/gad/dev.jsonl.gz", "datasets/gad/test.jsonl.gz", "datasets/gad/dev.jsonl.gz"),
    ("datasets/gad", "datasets/hoc", "datasets/gad/card.json"),
    ("models/own", "models/else", "models/own/SHA256SUMS"),
    ("sources/h/a.xml", "sources/h/b.xml", "sources/h/a.xml"),
    ("sources/h/a.xml.source.json", "sources/h/b.xml.source.json", "sources/h/a.xml.source.json"),
    ("tables/p/table1.json", "tables/p/table2.json", "tables/p/table1.json"),
    (f"{RUN}/seed-1.json", f"{RUN}/seed-2.json", f"{RUN}/seed-1.json"),
    (f"{RUN}/seed-1.training.json", f"{RUN}/seed-2.training.json", f"{RUN}/seed-1.training.json"),
    ("runs/p/own", "runs/p/else", f"{RUN}/seed-1.training.json"),
    ("pretraining/r/step-1", "pretraining/r/step-2", "pretraining/r/step-1/state.json"),
    ("corpora/parsed/s/a.parquet", "corpora/parsed/s/b.parquet", "corpora/parsed/s/a.parquet"),
]
"""Two results, and the file that is named if they are exchanged."""


def test_fsck_names_exchanged_results(tmp_path: Path) -> None:
    results = tmp_path / "results/demo"
    for number, name in enumerate(("gad", "hoc"), 1):
        dataset(results / "datasets" / name, name)
        record = {"protocol": "p", "model": "own", "dataset": "gad", "setting": "s", "seed": number}
        write_json(results / RUN / f"seed-{number}.json", sealed(record))
        write_json(results / f"pretraining/r/step-{number}/state.json", sealed({"step": number}))
        table = {"paper": "p", "table": f"table{number}"}
        write_formats(results / f"tables/p/table{number}", table, {"json": as_json})
    for name in ("own", "else"):
        for seed in (1, 2):
            path = results / f"runs/p/{name}/gad/s/final/seed-{seed}.training.json"
            write_json(path, sealed({"seed": seed, "model": name}))
        (results / "models" / name).mkdir(parents=True)
        write_json(results / "models" / name / "config.json", {"model": name})
        write_folder_sums(results / "models" / name, name)
    for path in (results / "sources/h/a.xml", results / "sources/h/b.xml"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(path.name.encode())
        record = {"url": f"https://h/{path.name}", "sha256": sha256(path), "origin": "mirror"}
        write_json(path.with_name(f"{path.name}.source.json"), sealed(record))
    write_two_shards(results / "corpora/parsed/s")
    make_checkout(tmp_path)
    assert run_verb("doctor", "fsck", checkout=tmp_path).returncode == 0
    for one, other, named in EXCHANGED:
        exchange(results / one, results / other)
        done = run_verb("doctor", "fsck", checkout=tmp_path)
        assert done.returncode == 1 and f"damaged: results/demo/{named}: it" in done.stdout, one
        exchange(results / one, results / other)
