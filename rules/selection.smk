"""Search a whole corpus for copies of documents and for texts of datasets."""


rule fingerprint:
    input:
        lambda w: list(T.selection.exclusions(w.corpus).values()),
        shard=lambda w: T.corpora.parsed_part(w.corpus, int(w.part)),
        latest=T.paths.corpus("{corpus}", "latest.parquet"),
    output:
        T.paths.fingerprint("{corpus}", "{part}"),
    log:
        T.paths.log(T.paths.fingerprint("{corpus}", "{part}", "")),
    wildcard_constraints:
        part=r"\d{4}",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("fingerprint"),
    params:
        **PLACES,
        version=[VERSIONS["select"], VERSIONS["duplicates"]],
        recipe=lambda w: as_json(T.selection.fingerprint_recipe(w.corpus, int(w.part))),
        index=lambda w: int(w.part),
        more=lambda w: as_arguments(T.selection.exclusions(w.corpus)),
    message:
        "Fingerprinting {wildcards.corpus}, part {wildcards.part}"
    shell:
        "python {params.scripts:q}/fingerprint.py --shard {input.shard:q} --index {params.index:q}"
        " --latest {input.latest:q} {params.more:q} --output {output:q} --recipe {params.recipe:q}"
        " > {log:q} 2>&1"


rule find_duplicates:
    input:
        lambda w: T.selection.fingerprints(w.corpus),
    output:
        T.paths.corpus("{corpus}", "duplicates.parquet"),
    log:
        T.paths.log(T.paths.corpus("{corpus}", "duplicates")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("find_duplicates"),
    params:
        **PLACES,
        version=VERSIONS["duplicates"],
        recipe=lambda w: as_json(T.selection.duplicates_recipe(w.corpus)),
        folder=lambda w: T.paths.fingerprints(w.corpus),
        parts=lambda w: len(T.corpora.shards(w.corpus)),
    message:
        "Finding duplicates in {wildcards.corpus}"
    shell:
        "python {params.scripts:q}/find_duplicates.py --fingerprints {params.folder:q}"
        " --parts {params.parts:q} --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule index_evaluation_texts:
    input:
        lambda w: T.contamination.examples(w.corpus, w.use),
    output:
        T.paths.corpus("{corpus}", "{use}.parquet"),
    log:
        T.paths.log(T.paths.corpus("{corpus}", "{use}")),
    wildcard_constraints:
        use="excluded|contamination",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("index_evaluation_texts"),
    params:
        **PLACES,
        version=VERSIONS["contamination"],
        recipe=lambda w: as_json(T.contamination.recipe(w.corpus, w.use)),
    message:
        "Indexing texts of datasets for {wildcards.corpus}"
    shell:
        "python {params.scripts:q}/index_evaluation_texts.py --datasets {params.results:q}/datasets"
        " --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule find_contamination:
    input:
        parts=lambda w: T.contamination.searched_parts(w.corpus, int(w.first)),
        index=T.paths.corpus("{corpus}", "contamination.parquet"),
    output:
        T.paths.contamination("{corpus}", "{first}"),
    log:
        T.paths.log(T.paths.corpus("{corpus}", "contamination/from-{first}")),
    wildcard_constraints:
        first=r"\d{4}",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("find_contamination"),
    params:
        **PLACES,
        version=VERSIONS["contamination"],
    message:
        "Searching {wildcards.corpus} for texts of datasets, from part {wildcards.first}"
    shell:
        "python {params.scripts:q}/find_contamination.py --parts {input.parts:q} --index {input.index:q}"
        " --output {output:q} > {log:q} 2>&1"


rule contamination:
    input:
        index=T.paths.corpus("{corpus}", "contamination.parquet"),
        found=lambda w: T.contamination.findings(w.corpus),
    output:
        T.paths.corpus("{corpus}", "contamination.json"),
    log:
        T.paths.log(T.paths.corpus("{corpus}", "contamination")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("contamination"),
    params:
        **PLACES,
        version=VERSIONS["contamination"],
    message:
        "Reporting texts of datasets found in {wildcards.corpus}"
    shell:
        "python {params.scripts:q}/contamination.py --corpus {wildcards.corpus:q} --index {input.index:q}"
        " --found {input.found:q} --output {output:q} > {log:q} 2>&1"


rule document_years:
    input:
        documents=lambda w: T.overlap.dated_files(),
        shards=lambda w: T.corpora.parsed(w.corpus),
    output:
        T.paths.corpus("{corpus}", "document-years.json"),
    log:
        T.paths.log(T.paths.corpus("{corpus}", "document-years.json").removesuffix(".json")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("document_years"),
    params:
        **PLACES,
        version=VERSIONS["years"],
        recipe=lambda w: as_json(T.overlap.years_recipe(w.corpus)),
        parsed=T.paths.parsed(),
    message:
        "Looking up years of datasets' documents in the sources of {wildcards.corpus}"
    shell:
        "python {params.scripts:q}/document_years.py --recipe {params.recipe:q} --parsed {params.parsed:q}"
        " --results {params.results:q} --output {output:q} > {log:q} 2>&1"
