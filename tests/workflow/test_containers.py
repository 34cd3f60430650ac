"""Jobs in a container image, with a stand-in for apptainer: its image is a folder with a `python`."""

import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.workflow.conftest import Project

STAND_IN = """#!/bin/sh
[ "$1" = --version ] && echo "apptainer version 1.3.4" && exit
[ "$1" = exec ] && shift || exit 255
while [ "${1#--}" != "$1" ]; do shift 2; done
image="$1"; shift
printf '%s\\n' "$*" >> "$image/commands"
PATH="$image/bin:/usr/bin:/bin" exec "$@"
"""
CARD = "results/demo/datasets/bc5-chem/card.json"


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def test_every_job_runs_in_the_image_with_its_python(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image, started = tmp_path / "image", tmp_path / "image/started"
    program(tmp_path / "host/apptainer", STAND_IN)
    program(image / "bin/python", f'#!/bin/sh\necho "$3" >> {started}\nexec {sys.executable} "$@"\n')
    monkeypatch.setenv("PATH", f"{tmp_path / 'host'}:{os.environ['PATH']}")
    own = replace(project, python=sys.executable)
    own.run("--sdm", "apptainer", "--config", f"container={image}", "--", CARD)
    assert (project.folder / CARD).is_file()
    assert sorted(started.read_text().split()) == ["convert", "download", "download", "download"]
    commands = (image / "commands").read_text()
    assert len(re.findall("^bash -c ", commands, re.MULTILINE)) == 4
    assert " PATH=" not in commands, "the host's programs come before those of the image"
