"""The configuration of a run, merged as Snakemake merges it."""

from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from pubmill.errors import PubmillError
from pubmill.messages.installation import own_settings
from pubmill.specs import strict_yaml
from pubmill.specs.study import check_files, without_demo


def merged_config(base: Path, overlays: Sequence[str], settings: Sequence[str]) -> dict[str, Any]:
    """Return Snakemake's configuration: `config.yaml`, the user's settings, `--configfile`, `--config`."""
    # Imported here, because it takes most of a second, which `pubmill --help` would need too.
    from snakemake.utils import update_config

    if missing := [overlay for overlay in overlays if not Path(overlay).exists()]:
        raise PubmillError(f"there is no file {missing[0]}; expected a study, such as studies/gu2020.yaml")
    overlays = [*map(str, own_settings(base.parent)), *overlays]
    check_files([base, *overlays])
    demo, given = strict_yaml.read(base, str(base), []).value, dict[str, Any]()
    for overlay in overlays:
        update_config(given, strict_yaml.read(Path(overlay), overlay, []).value)
    update_config(given, dict(map(parsed_setting, settings)))
    merged = deepcopy(demo)
    update_config(merged, given)
    return without_demo(dict(merged), demo, given.keys(), overlays)


def parsed_setting(word: str) -> tuple[str, Any]:
    """Return the key and value of a word `key=value` after `--config`, as Snakemake reads it: a number, True
    or False, or YAML whose values are all text."""
    key, equals, text = word.partition("=")
    if not equals:
        raise PubmillError(f"configuration: --config {word}: expected name=value")
    text = text.strip("'\"")
    if text in ("", "True", "False"):
        return key, {"": None, "True": True, "False": False}[text]
    for number in (int, float):
        with suppress(ValueError):
            return key, number(text)
    try:
        return key, yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        return key, text
