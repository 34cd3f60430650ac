"""Stage versions of records."""

from pubmill.graph.stage_versions import VERSIONS
from pubmill.metrics import METRICS, metrics_of
from pubmill.specs import DatasetSpec


def scoring_versions(data: DatasetSpec) -> dict[str, int | list[int]]:
    """Return the versions behind all records of a dataset: of its examples, of scoring and of the metrics."""
    return {
        "convert": [VERSIONS["convert"], data.version],
        "score": VERSIONS["score"],
        "metric": METRICS[data.metric].version,
        "metrics": [one.version for one in metrics_of(data.kind)],
    }
