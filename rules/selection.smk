"""Search a whole corpus for copies of documents and for texts of datasets."""


rule fingerprint:
    input:
        unpack(lambda w: graph.selection.exclusions(w.corpus)),
        parsed=f"{PARSED}/{BLOCK}",
        latest=f"{CORPUS}/latest.parquet",
    output:
        f"{CORPUS}/fingerprints/{BLOCK}",
    log:
        graph.paths.log(f"{CORPUS}/fingerprints/{{source}}/{{block}}"),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.fingerprint.resources,
    params:
        **graph.fingerprint.params,
        shards=graph.corpora.parsed_shards,
        first=lambda w: graph.corpora.block(w).first,
        folder=f"{CORPUS}/fingerprints",
        exclusions=lambda w: as_arguments(graph.selection.exclusions(w.corpus)),
    message:
        graph.fingerprint.label
    shell:
        "python -m pubmill.job fingerprint --shards {params.shards:q} --first {params.first:q}"
        " --latest {input.latest:q} {params.exclusions:q} --folder {params.folder:q} --output {output:q}"
        " --recipe {params.recipe:q} --version {params.version:q} > {log:q} 2>&1"


rule find_duplicates:
    input:
        fingerprints=lambda w: graph.corpora.manifests(w.corpus, graph.paths.fingerprints(w.corpus)),
    output:
        graph.paths.corpus("{corpus}", "duplicates.parquet"),
    log:
        graph.paths.log(graph.paths.corpus("{corpus}", "duplicates")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.find_duplicates.resources,
    params:
        **graph.find_duplicates.params,
        folder=f"{CORPUS}/fingerprints",
        parts=lambda w: len(graph.corpora.shards(w.corpus)),
    message:
        graph.find_duplicates.label
    shell:
        "python -m pubmill.job find_duplicates --fingerprints {params.folder:q}"
        " --parts {params.parts:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule index_evaluation_texts:
    input:
        examples=lambda w: graph.contamination.examples(w.corpus, w.use),
    output:
        graph.paths.corpus("{corpus}", "{use}.parquet"),
    log:
        graph.paths.log(graph.paths.corpus("{corpus}", "{use}")),
    wildcard_constraints:
        use="excluded|contamination",
    conda:
        "../envs/data.yaml"
    resources:
        **graph.index_evaluation_texts.resources,
    params:
        **graph.index_evaluation_texts.params,
    message:
        graph.index_evaluation_texts.label
    shell:
        "python -m pubmill.job index_evaluation_texts --datasets {params.places.results:q}/datasets"
        " --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule find_contamination:
    input:
        parts=f"{CORPUS}/{BLOCK}",
        index=f"{CORPUS}/contamination.parquet",
    output:
        f"{CORPUS}/contamination/{BLOCK}",
    log:
        graph.paths.log(f"{CORPUS}/contamination/{{source}}/{{block}}"),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.find_contamination.resources,
    params:
        **graph.find_contamination.params,
        parts=graph.corpora.parts,
        folder=lambda w: graph.paths.corpus(w.corpus, "contamination"),
    message:
        graph.find_contamination.label
    shell:
        "python -m pubmill.job find_contamination --parts {params.parts:q} --index {input.index:q}"
        " --folder {params.folder:q} --output {output:q} --version {params.version:q} > {log:q} 2>&1"


rule contamination:
    input:
        index=f"{CORPUS}/contamination.parquet",
        found=lambda w: graph.corpora.manifests(w.corpus, graph.paths.contamination(w.corpus)),
    output:
        graph.paths.corpus("{corpus}", "contamination.json"),
    log:
        graph.paths.log(graph.paths.corpus("{corpus}", "contamination")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.contamination.resources,
    params:
        **graph.contamination.params,
        folder=lambda w: graph.paths.contamination(w.corpus),
        parts=lambda w: len(graph.corpora.shards(w.corpus)),
    message:
        graph.contamination.label
    shell:
        "python -m pubmill.job contamination --corpus {wildcards.corpus:q} --index {input.index:q}"
        " --found {params.folder:q} --parts {params.parts:q} --output {output:q} > {log:q} 2>&1"
