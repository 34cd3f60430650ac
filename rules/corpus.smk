"""Find the latest versions of documents, select those of a corpus; its totals, its lock, its rebuild."""

LOCKED = any_of(graph.corpora.locked())
NOT_LOCKED = f"(?!(?:{LOCKED})/)[^/]+"


rule lock_corpus:
    input:
        manifest=f"{CORPUS}/manifest.parquet",
        statistics=f"{CORPUS}/stats.json",
    output:
        graph.paths.corpus("{corpus}", "corpus.lock"),
    log:
        graph.paths.log(graph.paths.corpus("{corpus}", "lock")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.lock_corpus.resources,
    params:
        **graph.lock_corpus.params,
        sources=graph.paths.sources(),
    message:
        graph.lock_corpus.label
    shell:
        "python -m pubmill.job lock_corpus --manifest {input.manifest:q}"
        " --statistics {input.statistics:q} --sources {params.sources:q} --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule locked_versions:
    input:
        parsed=lambda w: graph.corpora.parsed(w.corpus),
        lock=lambda w: graph.corpora.lock(w.corpus),
    output:
        latest=graph.paths.corpus("{corpus}", "latest.parquet"),
        report=graph.paths.corpus("{corpus}", "lock.json"),
        differences=graph.paths.corpus("{corpus}", "lock-differences.parquet"),
    log:
        graph.paths.log(graph.paths.corpus("{corpus}", "latest")),
    wildcard_constraints:
        corpus=LOCKED,
    conda:
        "../envs/data.yaml"
    resources:
        **graph.locked_versions.resources,
    params:
        **graph.locked_versions.params,
        parsed=graph.paths.parsed(),
    message:
        graph.locked_versions.label
    shell:
        "python -m pubmill.job latest_versions --parsed {params.parsed:q} --output {output.latest:q}"
        " --recipe {params.recipe:q} --lock {input.lock:q}"
        " --report {output.report:q} --differences {output.differences:q} > {log:q} 2>&1"


rule corpus_statistics:
    input:
        parts=lambda w: graph.corpora.manifests(w.corpus),
    output:
        manifest=graph.paths.corpus("{corpus}", "manifest.parquet"),
        statistics=graph.paths.corpus("{corpus}", "stats.json"),
    log:
        graph.paths.log(graph.paths.corpus("{corpus}", "statistics")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.corpus_statistics.resources,
    params:
        **graph.corpus_statistics.params,
        corpus=lambda w: graph.paths.corpus(w.corpus),
        parts=lambda w: len(graph.corpora.shards(w.corpus)),
    message:
        graph.corpus_statistics.label
    shell:
        "python -m pubmill.job corpus_statistics --corpus {params.corpus:q} --parts {params.parts:q}"
        " --manifest {output.manifest:q} --output {output.statistics:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule latest_versions:
    input:
        parsed=lambda w: graph.corpora.parsed(w.corpus),
    output:
        f"{CORPUS}/latest.parquet",
    log:
        graph.paths.log(graph.paths.corpus("{corpus}", "latest")),
    wildcard_constraints:
        corpus=NOT_LOCKED,
    conda:
        "../envs/data.yaml"
    resources:
        **graph.latest_versions.resources,
    params:
        **graph.latest_versions.params,
        parsed=PARSED,
    message:
        graph.latest_versions.label
    shell:
        "python -m pubmill.job latest_versions --parsed {params.parsed:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule select_documents:
    input:
        unpack(lambda w: graph.selection.inputs(w.corpus)),
        parsed=f"{PARSED}/{BLOCK}",
        latest=f"{CORPUS}/latest.parquet",
    output:
        f"{CORPUS}/{BLOCK}",
    log:
        graph.paths.log(f"{CORPUS}/parts/{{source}}/{{block}}"),
    wildcard_constraints:
        corpus="(?!parsed/)[^/]+",
    conda:
        "../envs/data.yaml"
    resources:
        **graph.select_documents.resources,
    params:
        **graph.select_documents.params,
        shards=graph.corpora.parsed_shards,
        first=lambda w: graph.corpora.block(w).first,
        folder=lambda w: graph.paths.corpus(w.corpus),
        selection=lambda w: as_arguments(graph.selection.inputs(w.corpus)),
    message:
        graph.select_documents.label
    shell:
        "python -m pubmill.job select_documents --shards {params.shards:q} --first {params.first:q}"
        " --latest {input.latest:q} {params.selection:q} --folder {params.folder:q} --output {output:q}"
        " --recipe {params.recipe:q} --version {params.version:q} > {log:q} 2>&1"
