"""Write the lock of a corpus, and rebuild a corpus from a lock."""

LOCKED = any_of(T.corpora.locked())
NOT_LOCKED = f"(?!(?:{LOCKED})/)[^/]+"


rule lock_corpus:
    input:
        T.paths.corpus("{corpus}", "manifest.parquet"),
    output:
        T.paths.corpus("{corpus}", "corpus.lock"),
    log:
        T.paths.log(T.paths.corpus("{corpus}", "lock")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("lock_corpus"),
    params:
        **PLACES,
        version=VERSIONS["lock"],
        recipe=lambda w: as_json(T.corpora.lock_recipe(w.corpus)),
        sources=T.paths.sources(),
    message:
        "Locking {wildcards.corpus}"
    shell:
        "python {params.scripts:q}/lock_corpus.py --manifest {input:q} --sources {params.sources:q}"
        " --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule locked_versions:
    input:
        lambda w: T.corpora.parsed(w.corpus),
        lock=lambda w: T.corpora.lock(w.corpus),
    output:
        latest=T.paths.corpus("{corpus}", "latest.parquet"),
        report=T.paths.corpus("{corpus}", "lock.json"),
        differences=T.paths.corpus("{corpus}", "lock-differences.parquet"),
    log:
        T.paths.log(T.paths.corpus("{corpus}", "latest")),
    wildcard_constraints:
        corpus=LOCKED,
    conda:
        "../envs/data.yaml"
    resources:
        **needs("locked_versions"),
    params:
        **PLACES,
        version=VERSIONS["latest"],
        recipe=lambda w: as_json(T.corpora.latest_recipe(w.corpus)),
        parsed=T.paths.parsed(),
    message:
        "Finding the documents in the lock of {wildcards.corpus}"
    shell:
        "python {params.scripts:q}/latest_versions.py --parsed {params.parsed:q} --output {output.latest:q}"
        " --recipe {params.recipe:q} --lock {input.lock:q} --report {output.report:q}"
        " --differences {output.differences:q} > {log:q} 2>&1"
