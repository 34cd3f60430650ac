"""The lock of a corpus, and a corpus that is built again from one."""

LOCKED = any_of(T.locked())
NOT_LOCKED = f"(?!(?:{LOCKED})/)[^/]+"


rule lock_corpus:
    input:
        f"{R}/corpora/{{corpus}}/manifest.parquet",
    output:
        f"{R}/corpora/{{corpus}}/corpus.lock",
    log:
        f"{R}/logs/corpora/{{corpus}}/lock.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("lock_corpus"),
    params:
        version=T.version("lock"),
        recipe=lambda w: as_json(T.lock_recipe(w.corpus)),
        sources=f"{R}/sources",
    message:
        "Locking {wildcards.corpus}"
    shell:
        "python {SCRIPTS:q}/lock_corpus.py --manifest {input:q} --sources {params.sources:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule locked_versions:
    input:
        lambda w: T.parsed(w.corpus),
        lock=lambda w: T.lock(w.corpus),
    output:
        latest=f"{R}/corpora/{{corpus}}/latest.parquet",
        report=f"{R}/corpora/{{corpus}}/lock.json",
        differences=f"{R}/corpora/{{corpus}}/lock-differences.parquet",
    log:
        f"{R}/logs/corpora/{{corpus}}/latest.log",
    wildcard_constraints:
        corpus=LOCKED,
    conda:
        "../envs/data.yaml"
    resources:
        **needs("locked_versions"),
    params:
        version=T.version("latest"),
        recipe=lambda w: as_json(T.latest_recipe(w.corpus)),
        parsed=T.parsed_folder(),
    message:
        "Finding the documents of {wildcards.corpus} that its lock has"
    shell:
        "python {SCRIPTS:q}/latest_versions.py --parsed {params.parsed:q} --output {output.latest:q}"
        " --recipe {params.recipe:q} --lock {input.lock:q} --report {output.report:q}"
        " --differences {output.differences:q} > {log:q} 2>&1"
