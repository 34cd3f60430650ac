"""PMC: plan its bucket, fetch the articles of each shard into one archive, and parse them."""


rule plan_pmc:
    output:
        T.paths.pmc_plan("{source}"),
    log:
        T.paths.log("download/pmc/{source}"),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("plan_pmc"),
        downloads=1,
    params:
        **PLACES,
        version=VERSIONS["plan_pmc"],
        url=lambda w: T.corpora.source(w.source).url,
        inventory=lambda w: str(T.corpora.source(w.source).inventory),
    message:
        "Planning the articles of {wildcards.source}"
    shell:
        "python {params.scripts:q}/plan_pmc.py --url {params.url:q} --inventory {params.inventory:q}"
        " --output {output:q} {params.mirror:q} > {log:q} 2>&1"


rule fetch_pmc:
    input:
        T.paths.pmc_plan("{source}"),
    output:
        file=T.paths.pmc_archive("{source}", "{shard}"),
        source=T.paths.source_record(T.paths.pmc_archive("{source}", "{shard}")),
    log:
        T.paths.log("download/pmc/{source}/{shard}"),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("fetch_pmc"),
        downloads=1,
    params:
        **PLACES,
        version=VERSIONS["fetch_pmc"],
        url=lambda w: T.corpora.source(w.source).url,
    message:
        "Fetching articles {wildcards.shard} of {wildcards.source}"
    shell:
        "python {params.scripts:q}/fetch_pmc.py --plan {input:q} --shard {wildcards.shard:q}"
        " --url {params.url:q} --output {output.file:q} {params.mirror:q} > {log:q} 2>&1"


rule parse_pmc:
    input:
        archive=lambda w: T.corpora.raw(w.source, w.shard),
        filelists=lambda w: T.corpora.filelists(w.source, w.shard),
    output:
        T.paths.parsed_shard("{source}", "{shard}"),
    log:
        T.paths.log("parse/{source}/{shard}"),
    wildcard_constraints:
        source=any_of(T.corpora.source_names("pmc") + T.corpora.source_names("pmc-packages")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("parse_pmc"),
    params:
        **PLACES,
        version=VERSIONS["parse"],
        recipe=lambda w: as_json(T.corpora.parse_recipe(w.source, w.shard)),
        filelist=lambda w: [f"--filelist={path}" for path in T.corpora.filelists(w.source, w.shard)],
    message:
        "Parsing {input.archive}"
    shell:
        "python {params.scripts:q}/parse_pmc.py --input {input.archive:q} {params.filelist:q}"
        " --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"
