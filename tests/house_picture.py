"""The picture of the package's rooms in docs/images/house.svg.

.venv/bin/python -m tests.house_picture --write
"""

import argparse
from pathlib import Path

PLACE = Path(__file__).resolve().parents[1] / "docs/images/house.svg"
LAYERS: tuple[tuple[str, str, str], ...] = (
    ("what you type", "top", "extras cli library"),
    ("what asks Snakemake, what it costs", "", "new_specs inspection workflow planning"),
    ("what a study's files are made from", "", "stages jobs"),
    ("from records to pages", "", "report predictions tables statistics"),
    ("what exists", "", "specs"),
    (
        "work on text, models and predictions",
        "work",
        "corpus vocabs convert pretraining prediction finetuning",
    ),
    ("numbers and forms", "", "metrics formats examples"),
    ("ground", "ground", "hardware recipes optimisers storage messages"),
)
"""Title, look and rooms of each layer, from the top. A room imports only rooms after it in this order."""
WIDTH, LEFT, STEP, HEIGHT, GAP = 890, 270, 58, 44, 8
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" \
aria-labelledby="title described" font-family="sans-serif" font-size="14">
<title id="title">The rooms of the package</title>
<desc id="described">{described}</desc>
<style>rect{{fill:#fff;stroke:#00796b;stroke-width:1.5}}.top{{fill:#fff3e0;stroke:#ef6c00}}\
.work{{fill:#e0f2f1}}.ground{{fill:#eceff1;stroke:#546e7a}}.back{{stroke:none}}text{{fill:#222}}\
.room{{text-anchor:middle}}.layer{{font-size:13px;fill:#555}}</style>
<rect class="back" width="{width}" height="{height}"/>
"""


def picture() -> str:
    """Return the picture: a line of boxes for each layer."""
    described = " ".join(f"{title}: {', '.join(rooms.split())}." for title, _, rooms in LAYERS)
    lines = [HEAD.format(width=WIDTH, height=10 + STEP * len(LAYERS), described=described)]
    for number, (title, look, rooms) in enumerate(LAYERS):
        top, names = 10 + STEP * number, rooms.split()
        lines.append(f'<text class="layer" x="12" y="{top + 27}">{title}</text>\n')
        width = (WIDTH - LEFT - 10 - GAP * (len(names) - 1)) / len(names)
        for place, room in enumerate(names):
            left = LEFT + place * (width + GAP)
            lines.append(
                f'<rect class="{look}" x="{left:.0f}" y="{top}" width="{width:.0f}" height="{HEIGHT}" '
                f'rx="5"/>'
                f'<text class="room" x="{left + width / 2:.0f}" y="{top + 27}">{room}</text>\n'
            )
    return "".join([*lines, "</svg>\n"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.house_picture")
    parser.add_argument("--write", action="store_true", help="write the picture")
    if parser.parse_args().write:
        PLACE.write_text(picture())
    else:
        print(picture(), end="")


if __name__ == "__main__":
    main()
