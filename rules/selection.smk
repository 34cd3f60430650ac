"""Search a whole corpus for copies of documents and for texts of datasets."""


rule fingerprint:
    input:
        unpack(graph.fingerprint.inputs_of),
    output:
        graph.paths.fingerprint("{corpus}", "{part}"),
    log:
        graph.paths.log(graph.paths.fingerprint("{corpus}", "{part}", "")),
    wildcard_constraints:
        part=r"\d{4}",
    group:
        graph.fingerprint.bundle
    conda:
        "../envs/data.yaml"
    resources:
        **graph.fingerprint.resources,
    params:
        **PLACES,
        **graph.fingerprint.params,
        index=lambda w: int(w.part),
        more=lambda w: as_arguments(graph.selection.exclusions(w.corpus)),
    message:
        graph.fingerprint.label
    shell:
        "python {params.scripts:q}/fingerprint.py --shard {input.shard:q} --index {params.index:q}"
        " --latest {input.latest:q} {params.more:q} --output {output:q} --recipe {params.recipe:q}"
        " > {log:q} 2>&1"


rule find_duplicates:
    input:
        unpack(graph.find_duplicates.inputs_of),
    output:
        graph.paths.corpus("{corpus}", "duplicates.parquet"),
    log:
        graph.paths.log(graph.paths.corpus("{corpus}", "duplicates")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.find_duplicates.resources,
    params:
        **PLACES,
        **graph.find_duplicates.params,
        folder=lambda w: graph.paths.fingerprints(w.corpus),
        parts=lambda w: len(graph.corpora.shards(w.corpus)),
    message:
        graph.find_duplicates.label
    shell:
        "python {params.scripts:q}/find_duplicates.py --fingerprints {params.folder:q}"
        " --parts {params.parts:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule index_evaluation_texts:
    input:
        unpack(graph.index_evaluation_texts.inputs_of),
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
        **PLACES,
        **graph.index_evaluation_texts.params,
    message:
        graph.index_evaluation_texts.label
    shell:
        "python {params.scripts:q}/index_evaluation_texts.py --datasets {params.results:q}/datasets"
        " --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule find_contamination:
    input:
        unpack(graph.find_contamination.inputs_of),
    output:
        update(graph.paths.contamination("{corpus}", "{first}")),
    log:
        graph.paths.log(graph.paths.corpus("{corpus}", "contamination/from-{first}")),
    wildcard_constraints:
        first=r"\d{4}",
    conda:
        "../envs/data.yaml"
    resources:
        **graph.find_contamination.resources,
    params:
        **PLACES,
        **graph.find_contamination.params,
    message:
        graph.find_contamination.label
    shell:
        "python {params.scripts:q}/find_contamination.py --parts {input.parts:q} --index {input.index:q}"
        " --output {output:q} --version {params.version:q} > {log:q} 2>&1"


rule contamination:
    input:
        unpack(graph.contamination.inputs_of),
    output:
        graph.paths.corpus("{corpus}", "contamination.json"),
    log:
        graph.paths.log(graph.paths.corpus("{corpus}", "contamination")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.contamination.resources,
    params:
        **PLACES,
        **graph.contamination.params,
    message:
        graph.contamination.label
    shell:
        "python {params.scripts:q}/contamination.py --corpus {wildcards.corpus:q} --index {input.index:q}"
        " --found {input.found:q} --output {output:q} > {log:q} 2>&1"
