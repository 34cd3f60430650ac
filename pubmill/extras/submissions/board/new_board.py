"""The files of a new board."""

import time
from collections.abc import Sequence
from pathlib import Path

import yaml

from pubmill.errors import PubmillError
from pubmill.extras.submissions.board.board_files import BOARD, SUBMISSIONS
from pubmill.storage.files import writing
from pubmill.storage.result_paths import CARD, paths_of_scale

README = """\
# {title}

The site is made by pubmill from the files here: `pubmill board FOLDER`.

To submit, add a folder `submissions/NAME` with

- `DATASET.EXT`, the predictions for the test split of a dataset, or `seed-1/DATASET.EXT` and so on for
  several runs. Datasets: {datasets}
- `card.yaml`:

```yaml
label: My system                # its name on the board
submitted: {day}
system:
  name: group/my-system
  version: "1.0"
  url: https://example.org/my-system     # or prompt:, or both
  local: false                           # whether it ran on a machine of your own
cost: {{parameters: 110000000}}          # also prompt_tokens, answer_tokens, gpu_hours, price
```

A pull request is checked by `.github/workflows/board.yml`; its last lines say what is refused, and why.
"""
WORKFLOW = """\
# Checks the submissions of a pull request, and makes the site of the main branch.
# The repository variable PUBMILL is what pip installs: the address of pubmill's wheel.
name: board
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  board:
    runs-on: ubuntu-24.04
    timeout-minutes: 60
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install "$PUBMILL"
        env:
          PUBMILL: ${{{{ vars.PUBMILL }}}}
      - name: Convert the datasets; the test labels stay on this machine
        run: |
          pubmill init ../work
          cd ../work
          pubmill run gu2020 {cards}
      - name: Score
        run: |
          cd ../work
          pubmill board "$GITHUB_WORKSPACE" --results results/full $CHECK
        env:
          CHECK: ${{{{ github.event_name == 'pull_request' && '--check' || '' }}}}
      - if: github.event_name == 'push'
        uses: actions/upload-pages-artifact@v3
        with:
          path: site
      - if: github.event_name == 'push'
        uses: actions/upload-artifact@v4
        with:
          name: history
          path: history.jsonl
  history:
    if: github.event_name == 'push'
    needs: board
    permissions:
      contents: write
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v4
      - uses: actions/download-artifact@v4
        with:
          name: history
      - name: Keep the history; nothing is run again for it
        run: |
          git add history.jsonl
          git diff --cached --quiet && exit 0
          git config user.name board
          git config user.email board@users.noreply.github.com
          git commit -m "History of the board [skip ci]"
          git push
  deploy:
    if: github.event_name == 'push'
    needs: board
    permissions:
      pages: write
      id-token: write
    environment:
      name: github-pages
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/deploy-pages@v4
"""


def write_board(folder: Path, datasets: Sequence[str]) -> None:
    """Write the files of a new board; a `PubmillError` if it is one already."""
    if (folder / BOARD).exists():
        raise PubmillError(f"{folder / BOARD} exists; its datasets are changed there, not by --dataset")
    title = folder.absolute().name
    board = yaml.safe_dump({"title": title, "datasets": list(datasets)}, sort_keys=False, allow_unicode=True)
    paths = paths_of_scale("full", "results")
    cards = " ".join(f"{paths.dataset(one)}/{CARD}" for one in datasets)
    files = {
        "README.md": README.format(title=title, datasets=", ".join(datasets), day=time.strftime("%Y-%m-%d")),
        ".github/workflows/board.yml": WORKFLOW.format(cards=cards),
        ".gitignore": "/.board/\n/site/\n",
        BOARD: board,
    }
    (folder / SUBMISSIONS).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        if not (folder / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with writing(folder / name) as temporary:
                temporary.write_text(text, encoding="utf-8")
