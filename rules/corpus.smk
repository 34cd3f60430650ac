"""Parse documents, find the latest version of each, and select the documents of a corpus."""


rule parse_medline:
    input:
        unpack(graph.parse_medline.inputs_of),
    output:
        graph.paths.parsed_shard("{source}", "{shard}"),
    log:
        graph.paths.log("parse/{source}/{shard}"),
    benchmark:
        graph.paths.benchmark("parse_medline", "parse/{source}/{shard}")
    wildcard_constraints:
        source=any_of(graph.corpora.source_names("pubmed")),
    group:
        graph.parse_medline.bundle
    conda:
        "../envs/data.yaml"
    resources:
        **graph.parse_medline.resources,
    params:
        **PLACES,
        **graph.parse_medline.params,
    message:
        graph.parse_medline.label
    shell:
        "python {params.scripts:q}/parse_medline.py --input {input.raw:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule parse_text:
    input:
        unpack(graph.parse_text.inputs_of),
    output:
        graph.paths.parsed_shard("{source}", "{shard}"),
    log:
        graph.paths.log("parse/{source}/{shard}"),
    benchmark:
        graph.paths.benchmark("parse_text", "parse/{source}/{shard}")
    wildcard_constraints:
        source=any_of(graph.corpora.source_names("text")),
    group:
        graph.parse_text.bundle
    conda:
        "../envs/data.yaml"
    resources:
        **graph.parse_text.resources,
    params:
        **PLACES,
        **graph.parse_text.params,
    message:
        graph.parse_text.label
    shell:
        "python {params.scripts:q}/parse_text.py --input {input.raw:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule parse_clinical:
    input:
        unpack(graph.parse_clinical.inputs_of),
    output:
        graph.paths.parsed_shard("{source}", "{shard}"),
    log:
        graph.paths.log("parse/{source}/{shard}"),
    benchmark:
        graph.paths.benchmark("parse_clinical", "parse/{source}/{shard}")
    wildcard_constraints:
        source=any_of(graph.corpora.source_names("mimic")),
    group:
        graph.parse_clinical.bundle
    conda:
        "../envs/data.yaml"
    resources:
        **graph.parse_clinical.resources,
    params:
        **PLACES,
        **graph.parse_clinical.params,
    message:
        graph.parse_clinical.label
    shell:
        "python {params.scripts:q}/parse_clinical.py --input {input.raw:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule latest_versions:
    input:
        unpack(graph.latest_versions.inputs_of),
    output:
        graph.paths.corpus("{corpus}", "latest.parquet"),
    log:
        graph.paths.log(graph.paths.corpus("{corpus}", "latest")),
    wildcard_constraints:
        corpus=NOT_LOCKED,
    conda:
        "../envs/data.yaml"
    resources:
        **graph.latest_versions.resources,
    params:
        **PLACES,
        **graph.latest_versions.params,
        parsed=graph.paths.parsed(),
    message:
        graph.latest_versions.label
    shell:
        "python {params.scripts:q}/latest_versions.py --parsed {params.parsed:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule select_documents:
    input:
        unpack(graph.select_documents.inputs_of),
    output:
        part=graph.paths.part("{corpus}", "{part}"),
        statistics=graph.paths.part("{corpus}", "{part}", "json"),
    log:
        graph.paths.log(graph.paths.part("{corpus}", "{part}", "")),
    wildcard_constraints:
        part=r"\d{4}",
    group:
        graph.select_documents.bundle
    conda:
        "../envs/data.yaml"
    resources:
        **graph.select_documents.resources,
    params:
        **PLACES,
        **graph.select_documents.params,
        index=lambda w: int(w.part),
        more=lambda w: as_arguments(graph.selection.inputs(w.corpus)),
    message:
        graph.select_documents.label
    shell:
        "python {params.scripts:q}/select_documents.py --shard {input.shard:q} --index {params.index:q}"
        " --latest {input.latest:q} {params.more:q} --output {output.part:q}"
        " --statistics {output.statistics:q} --recipe {params.recipe:q} > {log:q} 2>&1"
