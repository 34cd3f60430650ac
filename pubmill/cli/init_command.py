"""`pubmill init`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import MARKS
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages.installation import VIEW, link_workspace
from pubmill.storage.files import writing

CONFIG = """\
# Settings of this workspace, over those of .pubmill/config.yaml, which has all keys. A study overlays both.
results: results
"""
README = """\
# A workspace of pubmill

- `config.yaml`: settings over those of pubmill
- `specs/`, `studies/`: your own, beside those of pubmill (`.pubmill/specs`, `.pubmill/studies`). A file of
  the same name, such as `specs/models/NAME.yaml`, replaces pubmill's, and every command says so
- `results/`: what runs make
- `.pubmill/`: links to the installed package; commands bring it up to date. Change nothing there

```sh
pubmill list studies       # also tables, datasets, models
pubmill plan gu2020        # what a study costs
pubmill demo               # all steps on made-up miniature data; it trains, so it needs torch
```
"""
GITIGNORE = "/.pubmill/\n/.snakemake/\n/results/\n/tests/world/mirror/\n/workspace.yaml\n"


def init(folder: Annotated[Path, typer.Argument(help="folder to make, or to complete")]) -> None:
    """Make a workspace, a folder in which all commands run without a clone.

    It has settings, specs, studies and results of your own. Files that are there stay as they are.
    """
    if all((folder / mark).exists() for mark in MARKS):
        raise PubmillError(f"{folder} is a checkout, in which all commands run; name another folder")
    for name in ("specs", "studies"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, text in {"config.yaml": CONFIG, "README.md": README, ".gitignore": GITIGNORE}.items():
        if not (folder / name).exists():
            with writing(folder / name) as temporary:
                temporary.write_text(text, encoding="utf-8")
    link_workspace(folder)
    print(f"{folder} is a workspace; {folder / VIEW} has links to pubmill's specs, studies and programs")


VERB = Verb("New", init)
