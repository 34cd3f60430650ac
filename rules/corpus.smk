"""Parse, keep the latest version of each citation, select, count."""


rule parse_medline:
    input:
        lambda w: T.raw(w.source, w.shard),
    output:
        f"{R}/corpora/parsed/{{source}}/{{shard}}.parquet",
    log:
        f"{R}/logs/parse/{{source}}/{{shard}}.log",
    wildcard_constraints:
        source=any_of(T.source_names("pubmed")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("parse_medline"),
    params:
        version=T.version("parse"),
        recipe=lambda w: as_json(T.parse_recipe(w.source, w.shard)),
    message:
        "Parsing {input}"
    shell:
        "python {SCRIPTS:q}/parse_medline.py --input {input:q} --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule parse_text:
    input:
        lambda w: T.raw(w.source, w.shard),
    output:
        f"{R}/corpora/parsed/{{source}}/{{shard}}.parquet",
    log:
        f"{R}/logs/parse/{{source}}/{{shard}}.log",
    wildcard_constraints:
        source=any_of(T.source_names("text")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("parse_text"),
    params:
        version=T.version("parse"),
        recipe=lambda w: as_json(T.parse_recipe(w.source, w.shard)),
    message:
        "Parsing {input}"
    shell:
        "python {SCRIPTS:q}/parse_text.py --input {input:q} --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule parse_clinical:
    input:
        lambda w: T.raw(w.source, w.shard),
    output:
        f"{R}/corpora/parsed/{{source}}/{{shard}}.parquet",
    log:
        f"{R}/logs/parse/{{source}}/{{shard}}.log",
    wildcard_constraints:
        source=any_of(T.source_names("mimic")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("parse_clinical"),
    params:
        version=T.version("parse"),
        recipe=lambda w: as_json(T.parse_recipe(w.source, w.shard)),
    message:
        "Parsing {input}"
    shell:
        "python {SCRIPTS:q}/parse_clinical.py --input {input:q} --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule latest_versions:
    input:
        lambda w: T.parsed(w.corpus),
    output:
        f"{R}/corpora/{{corpus}}/latest.parquet",
    log:
        f"{R}/logs/corpora/{{corpus}}/latest.log",
    wildcard_constraints:
        corpus=NOT_LOCKED,
    conda:
        "../envs/data.yaml"
    resources:
        **needs("latest_versions"),
    params:
        version=T.version("latest"),
        recipe=lambda w: as_json(T.latest_recipe(w.corpus)),
        parsed=T.parsed_folder(),
    message:
        "Finding the latest version of each document of {wildcards.corpus}"
    shell:
        "python {SCRIPTS:q}/latest_versions.py --parsed {params.parsed:q} --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule select_documents:
    input:
        lambda w: list(T.selection_inputs(w.corpus).values()),
        shard=lambda w: T.parsed_part(w.corpus, int(w.part)),
        latest=f"{R}/corpora/{{corpus}}/latest.parquet",
    output:
        part=f"{R}/corpora/{{corpus}}/part-{{part}}.parquet",
        statistics=f"{R}/corpora/{{corpus}}/part-{{part}}.json",
    log:
        f"{R}/logs/corpora/{{corpus}}/part-{{part}}.log",
    wildcard_constraints:
        part=r"\d{4}",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("select_documents"),
    params:
        version=T.version("select"),
        recipe=lambda w: as_json(T.selection_recipe(w.corpus, int(w.part))),
        index=lambda w: int(w.part),
        more=lambda w: T.as_arguments(T.selection_inputs(w.corpus)),
    message:
        "Selecting documents of {wildcards.corpus}, part {wildcards.part}"
    shell:
        "python {SCRIPTS:q}/select_documents.py --shard {input.shard:q} --index {params.index:q} --latest {input.latest:q}"
        " {params.more:q} --output {output.part:q} --statistics {output.statistics:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule corpus_statistics:
    input:
        parts=lambda w: T.parts(w.corpus),
        statistics=lambda w: [path.replace(".parquet", ".json") for path in T.parts(w.corpus)],
    output:
        manifest=f"{R}/corpora/{{corpus}}/manifest.parquet",
        statistics=f"{R}/corpora/{{corpus}}/stats.json",
    log:
        f"{R}/logs/corpora/{{corpus}}/statistics.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("corpus_statistics"),
    params:
        version=T.version("statistics"),
        recipe=lambda w: as_json({"corpus": w.corpus}),
        corpus=lambda w: T.corpus_folder(w.corpus),
        parts=lambda w: len(T.shards(w.corpus)),
    message:
        "Counting {wildcards.corpus}"
    shell:
        "python {SCRIPTS:q}/corpus_statistics.py --corpus {params.corpus:q} --parts {params.parts:q}"
        " --manifest {output.manifest:q} --output {output.statistics:q} --recipe {params.recipe:q} > {log:q} 2>&1"
