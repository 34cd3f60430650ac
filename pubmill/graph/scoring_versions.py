"""Stage versions of records."""

from pubmill.graph.stage_versions import VERSIONS
from pubmill.metrics import METRICS, metrics_of
from pubmill.specs import DatasetSpec


def scoring_versions(data: DatasetSpec) -> dict[str, int | list[int]]:
    """Return the versions behind all records of a dataset: of its examples, of scoring and of the metrics.

    A metric of other tasks counts as version 1, so that its change scores no record of this dataset again.
    """
    return {
        "convert": [VERSIONS["convert"], data.version],
        "score": VERSIONS["score"],
        "metric": METRICS[data.metric].version,
        "metrics": [one.version if one.fits(data.kind, data.task) else 1 for one in metrics_of(data.kind)],
    }
