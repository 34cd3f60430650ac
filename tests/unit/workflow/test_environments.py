"""Jobs run with Snakemake's Python, unless conda or an image brings its own."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from pubmill.errors import PubmillError
from pubmill.specs.study import Study
from pubmill.workflow.preparation import CACHES, COMPILED, has_own_environments, keep_compiled

CONDA, APPTAINER, MODULES = "CONDA", "APPTAINER", "ENV_MODULES"
"""Names of Snakemake's methods of deployment."""


def study(container: str | None) -> Study:
    return Study(study="x", title="", scale="demo", tables=(), container=container)


def own(methods: set[str], container: str | None = None) -> bool:
    return has_own_environments(methods, study(container))


def test_conda_and_images_bring_their_own_python() -> None:
    assert not own(set()) and not own(set(), "pubmill.sif") and not own({MODULES})
    assert own({CONDA}) and own({APPTAINER}, "pubmill.sif") and own({APPTAINER, CONDA}, "pubmill.sif")


def test_without_an_image_there_is_nothing_to_run_in() -> None:
    with pytest.raises(PubmillError, match="names no image; set `container:`"):
        own({APPTAINER})


@pytest.mark.parametrize("image", ["/data/pubmill.sif", "docker://ghcr.io/a/pubmill@sha256:0a"])
def test_images_are_files_or_addresses(image: str) -> None:
    assert study(image).container == image


@pytest.mark.parametrize("image", ["", "a b.sif", "a;b", "$(id)", "`id`", "a'b", "{x}", "--bind", "a\n"])
def test_what_a_shell_would_read_is_no_image(image: str) -> None:
    """Snakemake puts the image into a shell's command as it is."""
    with pytest.raises(ValidationError):
        study(image)


def test_compiled_kernels_are_kept_below_the_results_or_where_the_user_wants(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = CACHES
    monkeypatch.setenv(mine, "restored afterwards")
    monkeypatch.delenv(mine)
    monkeypatch.setenv(theirs, "/of mine")
    keep_compiled(tmp_path / "results")
    assert (os.environ[mine], os.environ[theirs]) == (str(tmp_path / "results/.compiled/torch"), "/of mine")
    assert f"results/{COMPILED}" in (root / "Makefile").read_text().partition("\nclean:\n")[2]
