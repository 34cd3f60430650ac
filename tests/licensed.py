"""A made-up restricted dataset for tests of access: its spec, and files full of canary strings."""

import re
from pathlib import Path

from tests.world.part import CANARY

NAME, KEY = "secret@one", "secret-key"
APPLY = "https://example.org/apply"
FILES = {"train": "train set.tsv", "dev": "dev.tsv", "test": "test.tsv"}
SPEC = f"""\
name: secret@one
kind: tokens
task: ner
domain: clinical
sources:
  train: {{local: {KEY}, file: {FILES["train"]}}}
  dev: {{local: {KEY}, file: {FILES["dev"]}}}
  test: {{local: {KEY}, file: {FILES["test"]}}}
access: credentialed
apply: {APPLY}
licence: for those alone who signed
converter: pubmill.convert.conll:read
options: {{labels: first_character}}
expect: {{train: {{mentions: 2}}, dev: {{mentions: 1}}, test: {{mentions: 1}}}}
metric: entity_f1
version: 1
"""
SENTENCE = f"{CANARY}-a\tB\n{CANARY}-b\tO\n\n"
TEXTS = {"train": f"-DOCSTART- n1\n\n{SENTENCE * 2}", "dev": SENTENCE, "test": SENTENCE}


def add_spec(specs: Path) -> None:
    """Write the spec into `specs/datasets`, and make it the second row of Table 6 of gu2020."""
    (specs / f"datasets/{NAME}.yaml").write_text(SPEC)
    add_to_demo(specs, NAME)
    table = specs / "tables/gu2020/table06.yaml"
    first = "  - {dataset: bc5-disease,"
    text = table.read_text()
    assert text.count(first) == 1
    table.write_text(text.replace(first, f"  - {{dataset: {NAME}, label: Secret, group: ner}}\n{first}"))


def add_to_demo(specs: Path, name: str) -> None:
    scale = specs / "scales/demo.yaml"
    text, count = re.subn(r"(?m)^datasets:.*$", rf"\g<0>\n  {name}: {{version: 1}}", scale.read_text())
    assert count == 1
    scale.write_text(text)


def write_files(folder: Path) -> Path:
    """Write the files that a user would get after applying."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, name in FILES.items():
        (folder / name).write_text(TEXTS[split])
    return folder
