"""Parse documents, find the latest version of each, and select the documents of a corpus."""


rule parse:
    input:
        lambda w: graph.corpora.fetched(w.source, w.block),
    output:
        f"{PARSED}/{BLOCK}",
    log:
        graph.paths.log("parse/{source}/{block}"),
    benchmark:
        graph.paths.benchmark("parse", "parse/{source}/{block}")
    conda:
        "../envs/data.yaml"
    resources:
        **graph.parse.resources,
    params:
        **graph.parse.params,
        files=lambda w: [shard.file for shard in graph.corpora.source_block(w.source, w.block)],
        folder=f"{PARSED}/{{source}}",
    message:
        graph.parse.label
    shell:
        "python -m pubmill.job parse --files {params.files:q} --folder {params.folder:q}"
        " --output {output:q} --recipe {params.recipe:q} --version {params.version:q} > {log:q} 2>&1"


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
        more=lambda w: as_arguments(graph.selection.inputs(w.corpus)),
    message:
        graph.select_documents.label
    shell:
        "python -m pubmill.job select_documents --shards {params.shards:q} --first {params.first:q}"
        " --latest {input.latest:q} {params.more:q} --folder {params.folder:q} --output {output:q}"
        " --recipe {params.recipe:q} --version {params.version:q} > {log:q} 2>&1"
