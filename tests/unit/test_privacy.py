"""What is made of licensed text is for its owner alone, as that text is: words, pieces, tokens, weights."""

import json
import os
import runpy
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubmill.privacy import keep_private
from pubmill.sentences import FOLDER, TABLES
from tests.unit.toy_pretraining import changed
from tests.unit.vocabs_made_up import TEXTS

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    """Files that anybody may read, unless a program sees to it."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> set[int]:
    """Those of all files but public weights, which safetensors makes for their owner alone, too."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    private = {path.stat().st_mode & 0o777 for path in files if path.suffix == ".safetensors"} - {0o600}
    return private | {path.stat().st_mode & 0o777 for path in files if path.suffix != ".safetensors"}


def test_one_private_input_is_enough(tmp_path: Path) -> None:
    public, private = tmp_path / "public", tmp_path / "folder" / "private"
    private.parent.mkdir()
    for path, mode in ((public, 0o644), (private, 0o600)):
        path.touch(mode)
    keep_private([public, tmp_path / "absent"])
    (tmp_path / "one").touch()
    keep_private([public, private.parent])
    (tmp_path / "two").touch()
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("one", "two")] == [0o644, 0o600]


@pytest.mark.parametrize("private", [True, False])
def test_from_words_to_a_model(tmp_path: Path, private: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(name: str, recipe: object, **options: object) -> Path:
        made = tmp_path / str(options["output"])
        arguments = [
            f"--{key}={value if isinstance(value, int) else tmp_path / str(value)}"
            for key, value in options.items()
        ]
        monkeypatch.setattr(sys, "argv", [name, "--recipe", json.dumps(recipe), *arguments])
        os.umask(0o022)  # each is a process of its own
        runpy.run_path(str(SCRIPTS / name), run_name="__main__")
        return made

    table = pa.table({"id": [str(n) for n in range(len(TEXTS))], "text": TEXTS})
    for number in range(2):
        pq.write_table(table, tmp_path / f"part-000{number}.parquet")
    if private:
        (tmp_path / "part-0001.parquet").chmod(0o600)
    with zipfile.ZipFile(tmp_path / "punkt.zip", "w") as archive:
        for name in TABLES:
            archive.writestr(f"{FOLDER}/{name}", "")
    for number in range(2):
        part = f"part-000{number}.parquet"
        program("count_words.py", {"splitting": "bert-uncased"}, part=part, output=f"words/{part}")
    vocab = {"kind": "wordpiece", "size": 100, "lowercase": True}
    recipe = asdict(changed(steps=2, sequence_length=16, batch_size=2))
    mode = {0o600} if private else {0o644}
    assert modes(tmp_path / "words") == {0o644} | mode
    made = program("train_vocab.py", vocab, words="words", parts=2, output="vocab")
    assert modes(made) == mode
    made = program(
        "pack.py", {"held_out": 0.3}, corpus=".", parts=2, vocab="vocab", punkt="punkt.zip", output="tokens"
    )
    assert modes(made) == mode
    made = program("pretrain.py", recipe, tokens="tokens", vocab="vocab", to=2, output="run/step-2")
    assert modes(made.parent) == mode
    weights = {"model": "toy", "lowercase": True, "weights": {"kind": "pretraining"}, "pretraining": recipe}
    made = program("export_model.py", weights, checkpoint="run/step-2", vocab="vocab", output="model")
    assert modes(made) == mode
