"""Settings of one checkout or workspace alone: workspace.yaml, read over config.yaml by every command."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from pubmill.errors import PubmillError
from pubmill.messages.installation import SETTINGS
from pubmill.specs import strict_yaml
from pubmill.storage.files import writing

WORKSPACE = Path(SETTINGS[-1])
HEADER = "# Settings of this checkout, over those of config.yaml; pubmill adds folders of models\n"


def remember_folders(folders: Mapping[str, str]) -> None:
    """Add folders of the user's own to `local_files` of workspace.yaml, so that their names are enough."""
    if not folders:
        return
    errors: list[str] = []
    content = strict_yaml.read(WORKSPACE, str(WORKSPACE), errors).value if WORKSPACE.is_file() else {}
    if errors:
        raise PubmillError("\n".join(errors))
    known = dict(content.get("local_files") or {})
    if known | dict(folders) != known:
        settings = {**content, "local_files": known | dict(folders)}
        with writing(WORKSPACE) as temporary:
            temporary.write_text(HEADER + yaml.safe_dump(settings, sort_keys=False, allow_unicode=True))
