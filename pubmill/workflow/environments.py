"""Whose Python runs the jobs: Snakemake's, or that of conda environments or a container image."""

from typing import Any

from snakemake.settings.types import DeploymentMethod

from pubmill.errors import PubmillError
from pubmill.specs.study import Study


def has_own_environments(workflow: Any, study: Study) -> bool:
    """Return whether jobs run with a Python other than Snakemake's; a `PubmillError` if there is no image."""
    methods = workflow.deployment_settings.deployment_method
    if DeploymentMethod.APPTAINER in methods and not study.container:
        raise PubmillError(
            "--sdm apptainer: the configuration names no image; set `container:` to a .sif file, or to an "
            "address such as docker://HOST/NAME@sha256:DIGEST (docs/clusters.md)"
        )
    return bool({DeploymentMethod.APPTAINER, DeploymentMethod.CONDA} & set(methods))
