"""Parse documents, find the latest version of each, select the documents of a corpus, and count them."""


rule parse_medline:
    input:
        lambda w: T.corpora.raw(w.source, w.shard),
    output:
        T.paths.parsed_shard("{source}", "{shard}"),
    log:
        T.paths.log("parse/{source}/{shard}"),
    wildcard_constraints:
        source=any_of(T.corpora.source_names("pubmed")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("parse_medline"),
    params:
        **PLACES,
        version=VERSIONS["parse"],
        recipe=lambda w: as_json(T.corpora.parse_recipe(w.source, w.shard)),
    message:
        "Parsing {input}"
    shell:
        "python {params.scripts:q}/parse_medline.py --input {input:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule parse_text:
    input:
        lambda w: T.corpora.raw(w.source, w.shard),
    output:
        T.paths.parsed_shard("{source}", "{shard}"),
    log:
        T.paths.log("parse/{source}/{shard}"),
    wildcard_constraints:
        source=any_of(T.corpora.source_names("text")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("parse_text"),
    params:
        **PLACES,
        version=VERSIONS["parse"],
        recipe=lambda w: as_json(T.corpora.parse_recipe(w.source, w.shard)),
    message:
        "Parsing {input}"
    shell:
        "python {params.scripts:q}/parse_text.py --input {input:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule parse_clinical:
    input:
        lambda w: T.corpora.raw(w.source, w.shard),
    output:
        T.paths.parsed_shard("{source}", "{shard}"),
    log:
        T.paths.log("parse/{source}/{shard}"),
    wildcard_constraints:
        source=any_of(T.corpora.source_names("mimic")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("parse_clinical"),
    params:
        **PLACES,
        version=VERSIONS["parse"],
        recipe=lambda w: as_json(T.corpora.parse_recipe(w.source, w.shard)),
    message:
        "Parsing {input}"
    shell:
        "python {params.scripts:q}/parse_clinical.py --input {input:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule latest_versions:
    input:
        lambda w: T.corpora.parsed(w.corpus),
    output:
        T.paths.corpus("{corpus}", "latest.parquet"),
    log:
        T.paths.log(T.paths.corpus("{corpus}", "latest")),
    wildcard_constraints:
        corpus=NOT_LOCKED,
    conda:
        "../envs/data.yaml"
    resources:
        **needs("latest_versions"),
    params:
        **PLACES,
        version=VERSIONS["latest"],
        recipe=lambda w: as_json(T.corpora.latest_recipe(w.corpus)),
        parsed=T.paths.parsed(),
    message:
        "Finding the latest version of each document of {wildcards.corpus}"
    shell:
        "python {params.scripts:q}/latest_versions.py --parsed {params.parsed:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule select_documents:
    input:
        lambda w: list(T.selection.inputs(w.corpus).values()),
        shard=lambda w: T.corpora.parsed_part(w.corpus, int(w.part)),
        latest=T.paths.corpus("{corpus}", "latest.parquet"),
    output:
        part=T.paths.part("{corpus}", "{part}"),
        statistics=T.paths.part("{corpus}", "{part}", "json"),
    log:
        T.paths.log(T.paths.part("{corpus}", "{part}", "")),
    wildcard_constraints:
        part=r"\d{4}",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("select_documents"),
    params:
        **PLACES,
        version=VERSIONS["select"],
        recipe=lambda w: as_json(T.selection.recipe(w.corpus, int(w.part))),
        index=lambda w: int(w.part),
        more=lambda w: as_arguments(T.selection.inputs(w.corpus)),
    message:
        "Selecting documents of {wildcards.corpus}, part {wildcards.part}"
    shell:
        "python {params.scripts:q}/select_documents.py --shard {input.shard:q} --index {params.index:q}"
        " --latest {input.latest:q} {params.more:q} --output {output.part:q}"
        " --statistics {output.statistics:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule corpus_statistics:
    input:
        parts=lambda w: T.corpora.parts(w.corpus),
        statistics=lambda w: [path.replace(".parquet", ".json") for path in T.corpora.parts(w.corpus)],
    output:
        manifest=T.paths.corpus("{corpus}", "manifest.parquet"),
        statistics=T.paths.corpus("{corpus}", "stats.json"),
    log:
        T.paths.log(T.paths.corpus("{corpus}", "statistics")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("corpus_statistics"),
    params:
        **PLACES,
        version=VERSIONS["statistics"],
        recipe=lambda w: as_json(T.corpora.statistics_recipe(w.corpus)),
        corpus=lambda w: T.paths.corpus(w.corpus),
        parts=lambda w: len(T.corpora.shards(w.corpus)),
    message:
        "Counting documents of {wildcards.corpus}"
    shell:
        "python {params.scripts:q}/corpus_statistics.py --corpus {params.corpus:q} --parts {params.parts:q}"
        " --manifest {output.manifest:q} --output {output.statistics:q} --recipe {params.recipe:q}"
        " > {log:q} 2>&1"
