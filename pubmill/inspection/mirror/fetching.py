"""Fetch the files and models that a study needs into a mirror, on a machine with a network connection."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

from pubmill.errors import PubmillError
from pubmill.messages.progress import report_progress
from pubmill.planning.required_files import RequiredFiles, at_commit, is_cached
from pubmill.storage.model_folders import COPIED, PICKLED
from pubmill.storage.release_pins import HUB
from pubmill.storage.sources import check, download, path_in_mirror

MODELS = "huggingface"
"""Folder of a mirror to which HF_HUB_CACHE should point."""


def listed(wanted: RequiredFiles) -> Iterator[str]:
    """Yield a line for each file, model and PMC source."""
    yield from wanted.urls
    for one in wanted.models:
        yield f"{HUB}/{one.id} revision {one.revision or 'newest'} (model {one.model})"
    for source, shards in wanted.pmc.items():
        yield (
            f"PMC source {source}: {shards:,} shards, whose articles are listed in its inventory; run "
            f"fetch_pmc on a connected machine, and copy sources/pmc/{source} and "
            f"sources/blocks/{source} into the results"
        )


def fetch_all(wanted: RequiredFiles, folder: Path) -> list[str]:
    """Fetch everything that the folder lacks; return a line for each item that could not be fetched."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for url, checks in wanted.urls.items():
        output = path_in_mirror(url, str(folder))
        assert output is not None
        pairs = zip(checks[::2], checks[1::2], strict=False)
        expected = {kind.removeprefix("--").replace("-", "_"): value for kind, value in pairs}
        try:
            if output.is_file():
                check(url, output, expected)
                continue
            report_progress(f"fetching {url}")
            output.parent.mkdir(parents=True, exist_ok=True)
            download(url, output, md5_beside="--md5-beside" in checks, **expected)
        except PubmillError as error:
            failed.append(str(error))
    cache = folder / MODELS
    for model in (at_commit(one, str(folder)) for one in wanted.models):
        page, revision = f"{HUB}/{model.id}", model.revision
        if revision is None:
            failed.append(f"{page}: its newest commit is not known")
        elif not is_cached(model, cache):
            report_progress(f"fetching {page}")
            patterns: dict[str, Any] = {"allow_patterns": [*COPIED, PICKLED], "ignore_patterns": ["*/*"]}
            try:
                huggingface_hub.snapshot_download(model.id, revision=revision, cache_dir=cache, **patterns)
            except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
                failed.append(f"{page} at {revision}: cannot be fetched ({type(error).__name__})")
    return [*failed, *listed(RequiredFiles(pmc=wanted.pmc))]
