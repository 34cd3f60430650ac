"""Model folders: they load everywhere, equal their checkpoint, and their cards say what they are."""

import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch
import transformers
from huggingface_hub.errors import LocalEntryNotFoundError

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
    "family": "bert", "layers": 2, "hidden_size": 16, "attention_heads": 2, "intermediate_size": 32
}  # fmt: skip
IDS = {"pad": 0, "cls": 2, "sep": 3}
PRETRAINING: dict[str, Any] = {
    "architecture": SHAPE, "objective": {"masking": "whole-word"}, "optimisation": {"learning_rate": 6e-4},
    "sequence_length": 64, "batch_size": 8, "steps": 12345,
}  # fmt: skip


@pytest.fixture(scope="module")
def vocab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vocab")
    save(make_tokenizer(learn_pieces({"aspirin": 3, "rats": 2}, 40, SPECIAL).pieces, True), True, folder)
    write_json(folder / "diagnosis.json", {"size": 40, "documents": 7, "words": 99})
    return folder


def fresh(vocab: Path, seed: int) -> Any:
    size = len((vocab / "vocab.txt").read_text().splitlines())
    return build_model(Architecture(**SHAPE), Objective(masking="whole-word"), size, IDS, seed)


@pytest.fixture
def checkpoint(tmp_path: Path, vocab: Path) -> Path:
    folder = tmp_path / "step-12345"
    fresh(vocab, 7).save_pretrained(folder)
    for name in ("auxiliary.safetensors", "optimizer.safetensors"):
        (folder / name).write_bytes(b"not weights")
    facts = {
        **dict.fromkeys(STOOD), "step": 12345, "recipe": as_values(recipe("pretraining").pretraining),
        "loss_end": 1.25, "hardware": {"cpu": "a CPU"}, "inputs": {"tokens": "0ddba11"},
    }  # fmt: skip
    (folder / "log.jsonl").write_text('{"step": 1, "loss": 9.5}\n{"step": 12345, "loss": 1.25}\n')
    digests = {path.name: sha256(path) for path in folder.iterdir()}
    write_json(folder / "state.json", facts | {"files": digests})
    return folder


WEIGHTS: dict[str, dict[str, Any]] = {
    "pretraining": {"recipe": "r", "step": 12345}, "random": {"recipe": "r"}, "folder": {"local": "mine"},
    "hub": {"id": "lab/bert", "revision": "0" * 40},
    "archive": {"url": "https://example.org/model.tar.gz", "sha256": "0" * 64},
}  # fmt: skip


def recipe(kind: str, **more: Any) -> ExportRecipe:
    weights = {"kind": kind} | WEIGHTS[kind] | more.pop("weights", {})
    values = {"model": "m", "lowercase": True, "weights": weights, "pretraining": PRETRAINING}
    return build(ExportRecipe, values | more, "here")


def test_exported_weights_are_the_checkpoints(tmp_path: Path, checkpoint: Path, vocab: Path) -> None:
    export(recipe("pretraining"), tmp_path / "m", checkpoint=checkpoint, vocab=vocab)
    inputs = transformers.AutoTokenizer.from_pretrained(tmp_path / "m")("Aspirin rats", return_tensors="pt")
    with torch.no_grad():
        for kind in (transformers.AutoModel, transformers.AutoModelForMaskedLM):
            ours = kind.from_pretrained(tmp_path / "m").eval()(**inputs)[0]
            assert torch.equal(ours, kind.from_pretrained(checkpoint).eval()(**inputs)[0])
        tagger = transformers.AutoModelForTokenClassification.from_pretrained(tmp_path / "m").eval()
        hidden = transformers.AutoModel.from_pretrained(checkpoint).eval()(**inputs)[0]
        assert torch.equal(tagger.bert(**inputs)[0], hidden)
    assert not (tmp_path / "m/optimizer.safetensors").exists()


def test_card_and_configuration_say_what_was_done(tmp_path: Path, checkpoint: Path, vocab: Path) -> None:
    corpus = {"corpus": "abstracts", "last_files": {"pubmed": "pubmed26n1335"}}
    figures = {"day": "2026-02-03", "words": 8, "documents": 1234567}
    write_json(tmp_path / "stats.json", {"recipe": corpus, "years": {"1999": 1}, **figures})
    made = recipe("pretraining", scale="small")
    export(made, tmp_path / "m", checkpoint=checkpoint, vocab=vocab, statistics=tmp_path / "stats.json")
    card = (tmp_path / "m/README.md").read_text()
    for fact in (
        "| step | 12,345 |", "loss | 1.25", "| hardware: cpu | a CPU |", "0ddba11", "whole-word", "0.0006",
        "not comparable", "fit to decide on a patient", "| last files: pubmed | pubmed26n1335 |",
        "| corpus | abstracts |\n| last revision | 2026-02-03 |",
    ):  # fmt: skip
        assert fact in card
    assert "9.5" not in card
    assert transformers.AutoConfig.from_pretrained(tmp_path / "m").pretraining_corpus == corpus | figures


@pytest.fixture
def theirs(tmp_path: Path, vocab: Path) -> Path:
    export(recipe("random"), tmp_path / "theirs", vocab=vocab)
    return tmp_path / "theirs"


def test_a_folder_is_copied_after_checks(tmp_path: Path, theirs: Path) -> None:
    (theirs / "README.md").write_text("Theirs.")
    (theirs / "pytorch_model.bin").write_bytes(b"pickle")
    (theirs / "modeling.py").write_text("raise SystemExit")
    export(recipe("folder"), tmp_path / "m", folder=theirs)
    names = {path.name for path in (tmp_path / "m").iterdir()}
    assert "model.safetensors" in names and not names & {"pytorch_model.bin", "modeling.py"}
    assert (tmp_path / "m/README.original.md").read_text() == "Theirs."
    transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "m")


def test_the_treatment_of_capitals_is_written_and_checked(tmp_path: Path, theirs: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):  # as released BERTs often are: vocab.txt alone
        (theirs / name).unlink(missing_ok=True)
    for lowercase in (True, False):
        out = tmp_path / str(lowercase)
        export(recipe("folder", lowercase=lowercase), out, folder=theirs)
        tokenizer = transformers.AutoTokenizer.from_pretrained(out)
        assert (tokenizer("ASPIRIN").input_ids == tokenizer("aspirin").input_ids) is lowercase
        assert json.loads((out / "tokenizer_config.json").read_text())["do_lower_case"] is lowercase


def without_tokenizer(folder: Path) -> None:
    for name in (*TOKENIZER_FILES, *VOCABULARY_FILES):
        (folder / name).unlink(missing_ok=True)


def without_pieces(folder: Path) -> None:
    """transformers makes an empty tokenizer of a BERT whose folder has only another family's file."""
    without_tokenizer(folder)
    learn_sentencepiece(folder / "spiece")


def cut(folder: Path) -> None:
    os.truncate(folder / "model.safetensors", (folder / "model.safetensors").stat().st_size - 9)


@pytest.mark.parametrize(
    ("damage", "message"),
    [(without_tokenizer, "^m: "), (without_pieces, "all of them special"), (cut, "^m: ")],
)
def test_a_wrong_folder_is_refused(tmp_path: Path, theirs: Path, damage: Any, message: str) -> None:
    damage(theirs)
    with pytest.raises(PubmillError, match=message):
        export(recipe("folder"), tmp_path / "m", folder=theirs)
    assert not (tmp_path / "m").exists()


def test_a_vocabulary_of_another_size_is_refused(tmp_path: Path, checkpoint: Path, vocab: Path) -> None:
    other = shutil.copytree(vocab, tmp_path / "vocab")
    save(make_tokenizer(learn_pieces({"rats": 2}, 20, SPECIAL).pieces, True), True, other)
    with pytest.raises(PubmillError, match="another vocabulary"):
        export(recipe("pretraining"), tmp_path / "m", checkpoint=checkpoint, vocab=other)
    with pytest.raises(PubmillError, match="step 7 expected"):
        export(recipe("pretraining", weights={"step": 7}), tmp_path / "m", checkpoint=checkpoint, vocab=vocab)


def pin_file(folder: Path, **found: str) -> Path:
    write_json(folder / "pin.json", {**found, "found": "2026-01-02T03:04:05+00:00"})
    return folder / "pin.json"


def test_the_hub_is_pinned(tmp_path: Path, theirs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def snapshot(name: str, **options: Any) -> str:
        asked.append((name, options["revision"]))
        return str(theirs)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    revision = "0123456789" * 4
    export(recipe("hub", weights={"revision": revision}), tmp_path / "m")
    card = (tmp_path / "m/README.md").read_text()
    assert revision in card and "capitals explicit" in card and "unchanged" not in card
    unpinned = recipe("hub", weights={"revision": None})
    export(unpinned, tmp_path / "n", pin=pin_file(tmp_path, kind="hub", id="lab/bert", revision=revision))
    card = (tmp_path / "n/README.md").read_text()
    assert f"| revision | {revision} |" in card and "2026-01-02" in card
    assert asked == [("lab/bert", revision)] * 2


@pytest.mark.parametrize(
    ("kind", "weights", "message"),
    [
        ("pretraining", {}, "--checkpoint|--vocab"), ("random", {}, "--vocab"), ("folder", {}, "--folder"),
        ("archive", {}, "need --archive"), ("hub", {"revision": None}, "need --pin"),
        ("hub", {"revision": "main"}, "full commit hash"), ("hub", {}, "Without network"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(
    tmp_path: Path, kind: str, weights: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(name: str, **options: Any) -> str:
        raise LocalEntryNotFoundError("no connection")

    monkeypatch.setattr("huggingface_hub.snapshot_download", offline)
    with pytest.raises(PubmillError, match=message):
        export(recipe(kind, weights=weights), tmp_path / "m")


def test_an_archive_is_the_one_that_was_pinned(tmp_path: Path) -> None:
    (tmp_path / "model.tar.gz").write_bytes(tarball({"config.json": b"{}"}))
    with pytest.raises(PubmillError, match=r"model\.tar\.gz has the sha256 .* expected 0000"):
        export(recipe("archive"), tmp_path / "m", archive=tmp_path / "model.tar.gz")


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
    loaded, made = transformers.AutoModel.from_pretrained(tmp_path / "a"), fresh(vocab, 1).bert
    assert torch.equal(loaded.embeddings.word_embeddings.weight, made.embeddings.word_embeddings.weight)
    assert "12,345" not in (tmp_path / "a/README.md").read_text()


def learn_sentencepiece(prefix: Path) -> None:
    """Learn PREFIX.model, alone as ALBERT's are released."""
    dice = random.Random(1)
    lines = [" ".join(sentence(dice).words) for _ in range(1000)]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_prefix=str(prefix), vocab_size=45, minloglevel=2,
        pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, control_symbols=["[CLS]", "[SEP]", "[MASK]"],
    )  # fmt: skip
    prefix.with_suffix(".vocab").unlink()


@pytest.mark.parametrize(
    ("family", "files", "lowercase"),
    [
        ("roberta", ("vocab.json", "merges.txt"), False), ("electra", ("vocab.txt",), True),
        ("albert", (), True), ("megatron-bert", ("vocab.txt",), True),
    ],
)  # fmt: skip
def test_a_released_archive_becomes_a_model(
    tmp_path: Path, family: str, files: tuple[str, ...], lowercase: bool
) -> None:
    """Released years ago: a pickle of the old form, its own heads and a bare tokenizer, within a tar."""
    source, old = save_encoder(tmp_path / "source", family), tmp_path / "old"
    old.mkdir()
    model = transformers.AutoModelForPreTraining.from_pretrained(source)
    torch.save(model.state_dict(), old / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    for name in ("config.json", *files):
        shutil.copyfile(source / name, old / name)
    if family == "albert":
        learn_sentencepiece(old / "spiece")
    archive = tmp_path / "model.tar.gz"
    archive.write_bytes(tarball({f"Model/Model-hf/{one.name}": one.read_bytes() for one in old.iterdir()}))
    weights = {"url": "https://example.org/model.tar.gz", "sha256": None}
    pin = pin_file(tmp_path, kind="archive", url=weights["url"] or "", sha256=sha256(archive))
    made = recipe("archive", weights=weights, lowercase=lowercase)
    export(made, tmp_path / "m", archive=archive, pin=pin)
    names = {path.name for path in (tmp_path / "m").iterdir()}
    assert "model.safetensors" in names and not any(name.startswith((".", "pytorch")) for name in names)
    before, after = (
        transformers.AutoModel.from_pretrained(at).state_dict() for at in (source, tmp_path / "m")
    )
    assert all(torch.equal(before[name], after[name]) for name in before if "pooler" not in name)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "m")
    assert tokenizer.unk_token_id not in tokenizer("bacodi inelong").input_ids
    assert sha256(archive) in (tmp_path / "m/README.md").read_text()


HUB = {"kind": "hub", "id": "lab/bert", "revision": "f"}


def rows(card: str, title: str) -> dict[str, str]:
    section = card.split(f"## {title}\n")[1].split("\n## ")[0]
    cells = [line.strip("|").split(" | ", 1) for line in section.splitlines() if line.startswith("| ")][1:]
    return {name.strip(): value.strip() for name, value in cells}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (9_999, "9999"), (10_000, "10,000"), (-10_000, "-10,000"), (-9_999, "-9999"),
        (1.23456789e-4, "0.000123457"), (0.5, "0.5"), (True, "yes"), (False, "no"), (None, "–"), ([], "–"),
        ([1, None, "a"], "1, –, a"), ("a|b\nc", "a\\|b c"), (("x",), "x"),
    ],
)  # fmt: skip
def test_values_are_shown_for_people(value: Any, shown: str) -> None:
    card = model_card("m", HUB | {"a_b": value, "inner": {"c_d": {"e": value}}}, "full", {}, None)
    found = rows(card, "Weights")
    assert found["a b"] == found["inner: c d: e"] == shown


def test_only_what_is_known_is_told_such_as_a_reduced_scale_and_data_that_are_not_public(
    tmp_path: Path,
) -> None:
    card = model_card("m", HUB, "full", {}, None, vocab=tmp_path)
    assert [line for line in card.splitlines() if line.startswith("#")] == [
        "# m", "## Weights", "## Intended use and limits", "## Licence",
    ]  # fmt: skip
    assert "Scale" not in card and "not public" not in card and card.startswith("---\n")
    card = model_card("m", HUB, "small", {}, None, access="credentialed")
    assert "**Scale `small`: a reduced recipe, not comparable with published models.**" in card
    assert "**Made of data that are not public.**" in card and "pubmill_access: credentialed" in card


def test_the_corpus_and_the_vocabulary_are_described(tmp_path: Path) -> None:
    write_json(tmp_path / "diagnosis.json", {"size": 100, "documents": 12, "words": 20_000, "unused": 3})
    statistics = {
        "recipe": {"corpus": "c"}, "documents": 7, "words": 8, "years": {"2001": 7}, "rejected": {"short": 2},
        "by_source": {"pubmed": {"documents": 7, "words": 8}},
    }  # fmt: skip
    card = model_card("m", HUB, "full", statistics, None, vocab=tmp_path)
    assert rows(card, "Data") == {
        "corpus": "c", "documents": "7", "words": "8", "documents by source: pubmed": "7",
        "rejected: short": "2", "vocabulary: size": "100", "vocabulary: documents": "12",
        "vocabulary: words": "20,000",
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["pretraining", "random"])
def test_the_whole_recipe_is_that_of_trained_weights(kind: str, tmp_path: Path) -> None:
    write_json(tmp_path / "state.json", {"step": 5, "recipe": {"a": 1}, "lowest": 2.0, "tokens": 10})
    recipe = {"architecture": {"layers": 2}, "steps": 5}
    card = model_card("m", {"kind": kind}, "full", {}, recipe, checkpoint=tmp_path)
    trained = kind == "pretraining"
    assert rows(card, "Recipe") == {"architecture: layers": "2"} | ({"steps": "5"} if trained else {})
    assert ("## Training" in card) == trained and "None is given by pubmill" in card
    if trained:
        assert rows(card, "Training") == {"step": "5", "tokens": "10"}
        (tmp_path / "log.jsonl").write_text('{"loss": 3.0}\n{"loss": 2.0}\n')
        card = model_card("m", {"kind": kind}, "full", {}, recipe, checkpoint=tmp_path)
        assert rows(card, "Training")["last log line: loss"] == "2"
