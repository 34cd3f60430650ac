"""Model folders: they load everywhere, equal their checkpoint, and say what they are."""

import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch
from huggingface_hub.errors import LocalEntryNotFoundError
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForPreTraining,
    AutoModelForTokenClassification,
    AutoTokenizer,
)

from pubmill.errors import PubmillError
from pubmill.pretraining.architectures import build_model
from pubmill.pretraining.checkpoints import STOOD
from pubmill.pretraining.export import export
from pubmill.pretraining.model_cards import model_card
from pubmill.recipes import Architecture, Objective
from pubmill.recipes.models import ExportRecipe
from pubmill.recipes.reading import as_values, build
from pubmill.storage.files import sha256, write_json
from pubmill.storage.model_folders import TOKENIZER_FILES, VOCABULARY_FILES
from pubmill.vocabs.merges import learn_pieces
from pubmill.vocabs.wordpiece import SPECIAL, make_tokenizer, save
from tests.unit.finetuning.encoder_families import save_encoder, sentence
from tests.world.archives import tarball

SHAPE: dict[str, Any] = {
    "family": "bert",
    "layers": 2,
    "hidden_size": 16,
    "attention_heads": 2,
    "intermediate_size": 32,
}
IDS = {"pad": 0, "cls": 2, "sep": 3}
PRETRAINING: dict[str, Any] = {
    "architecture": SHAPE,
    "objective": {"masking": "whole-word"},
    "optimisation": {"learning_rate": 6e-4},
    "sequence_length": 64,
    "batch_size": 8,
    "steps": 12345,
}


@pytest.fixture(scope="module")
def vocab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vocab")
    save(make_tokenizer(learn_pieces({"aspirin": 3, "rats": 2}, 40, SPECIAL).pieces, True), True, folder)
    write_json(folder / "diagnosis.json", {"size": 40, "documents": 7, "words": 99})
    return folder


def size(vocab: Path) -> int:
    return len((vocab / "vocab.txt").read_text().splitlines())


@pytest.fixture
def checkpoint(tmp_path: Path, vocab: Path) -> Path:
    folder = tmp_path / "step-12345"
    build_model(Architecture(**SHAPE), Objective(masking="whole-word"), size(vocab), IDS, 7).save_pretrained(
        folder
    )
    for name in ("auxiliary.safetensors", "optimizer.safetensors"):
        (folder / name).write_bytes(b"not weights")
    facts = {
        **dict.fromkeys(STOOD),
        "step": 12345,
        "recipe": as_values(recipe("pretraining").pretraining),
        "loss_end": 1.25,
        "hardware": {"cpu": "a CPU", "gpus": []},
        "inputs": {"tokens": "0ddba11"},
        "packages": {"torch": "2.0"},
    }
    (folder / "log.jsonl").write_text('{"step": 1, "loss": 9.5}\n{"step": 12345, "loss": 1.25}\n')
    digests = {path.name: sha256(path) for path in folder.iterdir()}
    write_json(folder / "state.json", facts | {"files": digests})
    return folder


WEIGHTS: dict[str, dict[str, Any]] = {
    "pretraining": {"recipe": "r", "step": 12345},
    "random": {"recipe": "r"},
    "folder": {"local": "mine"},
    "hub": {"id": "lab/bert", "revision": "0" * 40},
    "archive": {"url": "https://example.org/model.tar.gz", "sha256": "0" * 64},
}


def recipe(kind: str, **more: Any) -> ExportRecipe:
    weights = {"kind": kind} | WEIGHTS[kind] | more.pop("weights", {})
    values = {"model": "m", "lowercase": True, "weights": weights, "pretraining": PRETRAINING}
    return build(ExportRecipe, values | more, "here")


def test_exported_weights_are_the_checkpoints(tmp_path: Path, checkpoint: Path, vocab: Path) -> None:
    export(recipe("pretraining"), tmp_path / "m", checkpoint=checkpoint, vocab=vocab)
    inputs = AutoTokenizer.from_pretrained(tmp_path / "m")("Aspirin rats", return_tensors="pt")
    with torch.no_grad():
        for kind in (AutoModel, AutoModelForMaskedLM):
            ours = kind.from_pretrained(tmp_path / "m").eval()(**inputs)[0]
            assert torch.equal(ours, kind.from_pretrained(checkpoint).eval()(**inputs)[0])
        tagger = AutoModelForTokenClassification.from_pretrained(tmp_path / "m").eval()
        hidden = AutoModel.from_pretrained(checkpoint).eval()(**inputs)[0]
        assert torch.equal(tagger.bert(**inputs)[0], hidden)
    assert not (tmp_path / "m/optimizer.safetensors").exists()


def test_the_card_says_what_was_done(tmp_path: Path, checkpoint: Path, vocab: Path) -> None:
    statistics = {
        "documents": 1234567,
        "words": 8,
        "years": {"1999": 1},
        "by_source": {"pubmed": {"documents": 1234567, "words": 8}},
        "rejected": {"too_short": 3},
        "day": "2026-02-03",
        "recipe": {"corpus": "abstracts", "last_files": {"pubmed": "pubmed26n1335"}},
    }
    write_json(tmp_path / "stats.json", statistics)
    made = recipe("pretraining", scale="small")
    export(made, tmp_path / "m", checkpoint=checkpoint, vocab=vocab, statistics=tmp_path / "stats.json")
    card = (tmp_path / "m/README.md").read_text()
    for fact in (
        "1,234,567",
        "| step | 12,345 |",
        "loss | 1.25",
        "| hardware: cpu | a CPU |",
        "| hardware: gpus | – |",
        "0ddba11",
        "| packages: torch | 2.0 |",
        "whole-word",
        "0.0006",
        "not comparable",
        "| corpus | abstracts |\n| last revision | 2026-02-03 |",
        "| last files: pubmed | pubmed26n1335 |",
        "| documents by source: pubmed | 1,234,567 |",
        "| rejected: too short | 3 |",
        "## Intended use and limits",
        "fit to decide on a patient",
        "None is given by pubmill",
    ):
        assert fact in card
    assert "9.5" not in card
    assert AutoConfig.from_pretrained(tmp_path / "m").pretraining_corpus == {
        "corpus": "abstracts", "last_files": {"pubmed": "pubmed26n1335"}, "day": "2026-02-03", "words": 8,
        "documents": 1234567,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("card", "said"),
    [
        ("---\ntags: [x]\nlicense: mit\n---\n# BERT\n", "`mit`, as README.original.md says"),
        ("# BERT\n\nlicense: mit\n", "Not stated"),
        ("---\nlicense:\ntags: [x]\n---\n", "Not stated"),
    ],
)
def test_the_licence_of_released_weights_is_that_of_their_card(tmp_path: Path, card: str, said: str) -> None:
    (tmp_path / "README.original.md").write_text(card)
    ours = model_card("m", {"kind": "hub"}, "full", {}, None, original=tmp_path / "README.original.md")
    assert said in ours.split("## Licence")[1]


def test_random_weights_follow_the_seed(tmp_path: Path, vocab: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        export(recipe("random", seed=seed), tmp_path / name, vocab=vocab)
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in "abc"]
    assert weights[0] == weights[1] != weights[2]
    made: Any = build_model(Architecture(**SHAPE), Objective(masking="whole-word"), size(vocab), IDS, 1)
    loaded = AutoModel.from_pretrained(tmp_path / "a")
    assert torch.equal(loaded.embeddings.word_embeddings.weight, made.bert.embeddings.word_embeddings.weight)
    assert "12,345" not in (tmp_path / "a/README.md").read_text()


def test_a_folder_is_copied_after_checks(tmp_path: Path, vocab: Path) -> None:
    export(recipe("random"), tmp_path / "theirs", vocab=vocab)
    (tmp_path / "theirs/README.md").write_text("Theirs.")
    (tmp_path / "theirs/pytorch_model.bin").write_bytes(b"pickle")
    (tmp_path / "theirs/modeling.py").write_text("raise SystemExit")
    export(recipe("folder"), tmp_path / "m", folder=tmp_path / "theirs")
    names = {path.name for path in (tmp_path / "m").iterdir()}
    assert "model.safetensors" in names and not names & {"pytorch_model.bin", "modeling.py"}
    assert (tmp_path / "m/README.original.md").read_text() == "Theirs."
    AutoModelForMaskedLM.from_pretrained(tmp_path / "m")


def test_pickled_weights_become_safetensors(tmp_path: Path, vocab: Path) -> None:
    theirs = tmp_path / "theirs"
    export(recipe("random"), theirs, vocab=vocab)
    before = AutoModel.from_pretrained(theirs).state_dict()
    torch.save(AutoModelForMaskedLM.from_pretrained(theirs).state_dict(), theirs / "pytorch_model.bin")
    (theirs / "model.safetensors").unlink()
    export(recipe("folder"), tmp_path / "m", folder=theirs)
    assert not (tmp_path / "m/pytorch_model.bin").exists()
    after = AutoModel.from_pretrained(tmp_path / "m").state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before if "pooler" not in name)


class Evil:
    """A pickle that would run a command."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (EVIDENCE,)


EVIDENCE = "evidence-of-a-pickle-that-was-run"


def test_a_pickle_is_never_run(tmp_path: Path, vocab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    theirs = tmp_path / "theirs"
    export(recipe("random"), theirs, vocab=vocab)
    (theirs / "model.safetensors").unlink()
    torch.save({"weight": Evil()}, theirs / "pytorch_model.bin")
    with pytest.raises(PubmillError, match="holds more than tensors"):
        export(recipe("folder"), tmp_path / "m", folder=theirs)
    assert not (tmp_path / EVIDENCE).exists() and not (tmp_path / "m").exists()


def test_the_treatment_of_capitals_is_written_and_checked(tmp_path: Path, vocab: Path) -> None:
    theirs = tmp_path / "theirs"
    export(recipe("random"), theirs, vocab=vocab)
    for name in ("tokenizer.json", "tokenizer_config.json"):  # as released BERTs often are: vocab.txt alone
        (theirs / name).unlink(missing_ok=True)
    for lowercase in (True, False):
        out = tmp_path / str(lowercase)
        export(recipe("folder", lowercase=lowercase), out, folder=theirs)
        tokenizer = AutoTokenizer.from_pretrained(out)
        assert (tokenizer("ASPIRIN").input_ids == tokenizer("aspirin").input_ids) is lowercase
        assert json.loads((out / "tokenizer_config.json").read_text())["do_lower_case"] is lowercase


@pytest.mark.parametrize(
    "damage", ["no weights", "no tokenizer", "remote code", "cut weights", "small model"]
)
def test_a_wrong_folder_is_refused(tmp_path: Path, vocab: Path, damage: str) -> None:
    theirs = tmp_path / "theirs"
    export(recipe("random"), theirs, vocab=vocab)
    config = json.loads((theirs / "config.json").read_text())
    if damage == "no weights":
        (theirs / "model.safetensors").rename(theirs / "pytorch_model.bin")
    elif damage == "no tokenizer":
        for name in (*TOKENIZER_FILES, *VOCABULARY_FILES):
            (theirs / name).unlink(missing_ok=True)
    elif damage == "remote code":
        write_json(theirs / "config.json", config | {"auto_map": {"AutoModel": "modeling.Model"}})
    elif damage == "cut weights":
        (theirs / "model.safetensors").write_bytes((theirs / "model.safetensors").read_bytes()[:-9])
    else:
        write_json(theirs / "config.json", config | {"vocab_size": 3})
    with pytest.raises(PubmillError, match=r"^m: |pytorch_model.bin is damaged"):
        export(recipe("folder"), tmp_path / "m", folder=theirs)
    assert not (tmp_path / "m").exists()


def test_a_vocabulary_of_another_size_is_refused(tmp_path: Path, checkpoint: Path, vocab: Path) -> None:
    other = tmp_path / "vocab"
    shutil.copytree(vocab, other)
    save(make_tokenizer(learn_pieces({"rats": 2}, 20, SPECIAL).pieces, True), True, other)
    with pytest.raises(PubmillError, match="another vocabulary"):
        export(recipe("pretraining"), tmp_path / "m", checkpoint=checkpoint, vocab=other)


def test_a_checkpoint_of_another_step_is_refused(tmp_path: Path, checkpoint: Path, vocab: Path) -> None:
    with pytest.raises(PubmillError, match="step 7 expected"):
        export(recipe("pretraining", weights={"step": 7}), tmp_path / "m", checkpoint=checkpoint, vocab=vocab)


def test_the_hub_is_pinned(tmp_path: Path, vocab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    export(recipe("random"), tmp_path / "cached", vocab=vocab)
    asked: list[Any] = []

    def snapshot(name: str, **options: Any) -> str:
        asked.append((name, options["revision"]))
        return str(tmp_path / "cached")

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    revision = "0123456789" * 4
    export(recipe("hub", weights={"revision": revision}), tmp_path / "m")
    assert asked == [("lab/bert", revision)]
    card = (tmp_path / "m/README.md").read_text()
    assert revision in card and "capitals explicit" in card and "unchanged" not in card
    with pytest.raises(PubmillError, match="full commit hash"):
        export(recipe("hub", weights={"revision": "main"}), tmp_path / "other")


def pin_file(folder: Path, **found: str) -> Path:
    write_json(folder / "pin.json", {**found, "found": "2026-01-02T03:04:05+00:00"})
    return folder / "pin.json"


def test_an_unpinned_revision_is_that_of_the_first_download(
    tmp_path: Path, vocab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(recipe("random"), tmp_path / "cached", vocab=vocab)
    asked: list[str] = []

    def snapshot(name: str, **options: Any) -> str:
        asked.append(options["revision"])
        return str(tmp_path / "cached")

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    made = recipe("hub", weights={"id": "lab/bert", "revision": None})
    with pytest.raises(PubmillError, match="need --pin"):
        export(made, tmp_path / "m")
    found = "0123456789" * 4
    export(made, tmp_path / "m", pin=pin_file(tmp_path, kind="hub", id="lab/bert", revision=found))
    assert asked == [found]
    card = (tmp_path / "m/README.md").read_text()
    assert f"| revision | {found} |" in card and "2026-01-02" in card


def released_archive(folder: Path, family: str, files: tuple[str, ...]) -> tuple[Path, Path]:
    """A model as it was released years ago: a pickle of the old form, its own heads and a bare tokenizer,
    in a folder within a tar; and the folder that it was made from."""
    source, old = save_encoder(folder / "source", family), folder / "old"
    old.mkdir()
    model = AutoModelForPreTraining.from_pretrained(source)
    torch.save(model.state_dict(), old / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    for name in ("config.json", *files):
        shutil.copyfile(source / name, old / name)
    if family == "albert":
        learn_sentencepiece(old / "spiece", 45)
    packed = {f"Model/Model-hf/{path.name}": path.read_bytes() for path in sorted(old.iterdir())}
    (folder / "model.tar.gz").write_bytes(tarball(packed))
    return folder / "model.tar.gz", source


def learn_sentencepiece(prefix: Path, size: int) -> None:
    """Learn PREFIX.model, alone as ALBERT's are released."""
    dice = random.Random(1)
    lines = [" ".join(sentence(dice).words) for _ in range(1000)]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_prefix=str(prefix), vocab_size=size, minloglevel=2,
        pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, control_symbols=["[CLS]", "[SEP]", "[MASK]"],
    )  # fmt: skip
    prefix.with_suffix(".vocab").unlink()


@pytest.mark.parametrize(
    ("family", "files", "lowercase"),
    [
        ("roberta", ("vocab.json", "merges.txt"), False),
        ("electra", ("vocab.txt",), True),
        ("albert", (), True),
        ("megatron-bert", ("vocab.txt",), True),
    ],
)
def test_a_released_archive_becomes_a_model(
    tmp_path: Path, family: str, files: tuple[str, ...], lowercase: bool
) -> None:
    archive, source = released_archive(tmp_path, family, files)
    weights = {"url": "https://example.org/model.tar.gz", "sha256": None}
    pin = pin_file(tmp_path, kind="archive", url=weights["url"] or "", sha256=sha256(archive))
    made = recipe("archive", weights=weights, lowercase=lowercase)
    export(made, tmp_path / "m", archive=archive, pin=pin)
    names = {path.name for path in (tmp_path / "m").iterdir()}
    assert "model.safetensors" in names and not any(name.startswith((".", "pytorch")) for name in names)
    before, after = (AutoModel.from_pretrained(at).state_dict() for at in (source, tmp_path / "m"))
    assert all(torch.equal(before[name], after[name]) for name in before if "pooler" not in name)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "m")
    assert tokenizer.unk_token_id not in tokenizer("bacodi inelong").input_ids
    assert sha256(archive) in (tmp_path / "m/README.md").read_text()


def test_an_archive_is_the_one_that_was_pinned(tmp_path: Path) -> None:
    (tmp_path / "model.tar.gz").write_bytes(tarball({"config.json": b"{}"}))
    made = recipe("archive", weights={"url": "https://example.org/model.tar.gz", "sha256": "0" * 64})
    with pytest.raises(PubmillError, match=r"model\.tar\.gz has the sha256 .* expected 0000"):
        export(made, tmp_path / "m", archive=tmp_path / "model.tar.gz")
    with pytest.raises(PubmillError, match="need --archive"):
        export(made, tmp_path / "m")


def test_a_tokenizer_without_pieces_is_refused(tmp_path: Path, vocab: Path) -> None:
    """transformers makes an empty one of a BERT whose folder has only another family's file."""
    export(recipe("random"), tmp_path / "theirs", vocab=vocab)
    for name in (*TOKENIZER_FILES, *VOCABULARY_FILES):
        (tmp_path / "theirs" / name).unlink(missing_ok=True)
    learn_sentencepiece(tmp_path / "theirs/spiece", 45)
    with pytest.raises(PubmillError, match="all of them special"):
        export(recipe("folder"), tmp_path / "m", folder=tmp_path / "theirs")


def test_without_network_the_message_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(name: str, **options: Any) -> str:
        raise LocalEntryNotFoundError("no connection")

    monkeypatch.setattr("huggingface_hub.snapshot_download", offline)
    with pytest.raises(PubmillError, match="Without network"):
        export(recipe("hub"), tmp_path / "m")


@pytest.mark.parametrize("kind", ["pretraining", "random", "folder"])
def test_what_is_missing_is_named(tmp_path: Path, kind: str) -> None:
    with pytest.raises(PubmillError, match=r"--checkpoint|--vocab|--folder"):
        export(recipe(kind), tmp_path / "m")
