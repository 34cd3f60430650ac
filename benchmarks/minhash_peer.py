"""Similar texts by datatrove's MinHash, in an environment of its own that has datatrove and spaCy.

    PYTHON benchmarks/minhash_peer.py STEP FOLDER

FOLDER/text has JSON lines with `id` and `text`. Steps: `signatures`, `buckets`, `clusters`, `filter`; the
last writes the removed documents. Settings are datatrove's own, but for 16 buckets, so that both sides have
128 hashes and the same probability that two texts are compared.
"""

import logging
import sys
from pathlib import Path

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import (
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter

BUCKETS = 16


def main(step: str, folder: Path) -> None:
    config = MinhashConfig(num_buckets=BUCKETS, hashes_per_bucket=8)
    text, at = str(folder / "text"), lambda name: str(folder / name)
    tasks = BUCKETS if step == "buckets" else 1
    removed = JsonlWriter(at("removed"), compression=None)
    pipeline = {
        "signatures": lambda: [JsonlReader(text), MinhashDedupSignature(at("signatures"), config=config)],
        "buckets": lambda: [MinhashDedupBuckets(at("signatures"), at("buckets"), config=config)],
        "clusters": lambda: [MinhashDedupCluster(at("buckets"), at("clusters"), config=config)],
        "filter": lambda: [
            JsonlReader(text),
            MinhashDedupFilter(at("clusters"), exclusion_writer=removed),
            JsonlWriter(at("kept"), compression=None),
        ],
    }[step]()
    logging.disable()
    LocalPipelineExecutor(pipeline, tasks=tasks, workers=1, logging_dir=at(f"logs-{step}")).run()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
