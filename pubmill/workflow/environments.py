"""Environments of jobs: whose Python runs them, and where they keep compiled kernels."""

import os
from pathlib import Path
from typing import Any

from snakemake.settings.types import DeploymentMethod

from pubmill.errors import PubmillError
from pubmill.specs.study import Study

COMPILED = ".compiled"
"""Folder below the results of all scales; `make clean` removes it."""
CACHES = {"TORCHINDUCTOR_CACHE_DIR": "torch", "TRITON_CACHE_DIR": "triton"}
"""Environment variables of the folders in which compilers keep kernels for later jobs."""


def keep_compiled(results: Path) -> None:
    """Let jobs keep kernels that are compiled for GPUs below the results, unless the user names a folder."""
    for name, kind in CACHES.items():
        os.environ.setdefault(name, str(results.absolute() / COMPILED / kind))


def has_own_environments(workflow: Any, study: Study) -> bool:
    """Return whether jobs run with a Python other than Snakemake's; a `PubmillError` if there is no image."""
    methods = workflow.deployment_settings.deployment_method
    if DeploymentMethod.APPTAINER in methods and not study.container:
        raise PubmillError(
            "--sdm apptainer: the configuration names no image; set `container:` to a .sif file, or to an "
            "address such as docker://HOST/NAME@sha256:DIGEST (docs/clusters.md)"
        )
    return bool({DeploymentMethod.APPTAINER, DeploymentMethod.CONDA} & set(methods))
