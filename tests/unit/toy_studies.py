"""A study of two models at the scale of the demo, and the checkout's specs, which are loaded once."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from pubmill.specs import Specs, load
from pubmill.specs.own_settings import with_own_settings
from pubmill.specs.study import Study, with_own_weights
from pubmill.stages import Graph, checked_graph

GraphOf = Callable[..., Graph]
"""The fixture `graph_of`."""

_LOADED: dict[tuple[str, str], Specs] = {}


def loaded(folder: Path, scale: str, *rest: Any) -> Specs:
    """Load specs once for all folders with the same files, as loading takes longer than most tests."""
    files = ((path, path.read_bytes()) for path in sorted(folder.rglob("*.yaml")) if path.is_file())
    text = repr([(str(path.relative_to(folder)), content) for path, content in files])
    key = sha256(text.encode()).hexdigest(), f"{scale} {rest}"
    if key not in _LOADED:
        _LOADED[key] = load(folder, scale, *rest)
    return _LOADED[key]


def study_of(root: Path, **config: object) -> tuple[Study, Specs]:
    """Return a checked study of one table with the specs that it uses; `config`: its other settings."""
    base = {"study": "x", "title": "x", "scale": "demo", "tables": ["gu2020/table06"]}
    study = Study.model_validate(base | config)
    return study, with_own_settings(
        with_own_weights(loaded(root / "specs", study.scale), study.pretrain), study
    )


def targets(root: Path, **config: object) -> Graph:
    """Return the checked graph of such a study of two models."""
    return checked_graph(*study_of(root, **{"models": ["pubmedbert-base", "no-pretraining"]} | config))
