"""PMC: plan its bucket, and fetch the articles of each shard into one archive."""


rule plan_pmc:
    output:
        graph.paths.pmc_plan("{source}"),
    log:
        graph.paths.log("download/pmc/{source}"),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.plan_pmc.resources,
        downloads=1,
    params:
        **graph.plan_pmc.params,
        url=lambda w: graph.corpora.source(w.source).url,
        inventory=lambda w: str(graph.corpora.source(w.source).inventory),
    message:
        graph.plan_pmc.label
    shell:
        "python -m pubmill.job plan_pmc --url {params.url:q} --inventory {params.inventory:q}"
        " --output {output:q} {params.places.mirror:q} > {log:q} 2>&1"


rule fetch_pmc:
    input:
        graph.paths.pmc_plan("{source}"),
    output:
        f"{SOURCES}/{BLOCK}",
    log:
        graph.paths.log("download/pmc/{source}/{block}"),
    wildcard_constraints:
        source=any_of(graph.corpora.source_names("pmc")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.fetch_pmc.resources,
        downloads=1,
    params:
        **graph.fetch_pmc.params,
        url=lambda w: graph.corpora.source(w.source).url,
        shards=graph.fetch_pmc.shards,
        folder=lambda w: f"{SOURCES}/pmc/{w.source}",
    message:
        graph.fetch_pmc.label
    shell:
        "python -m pubmill.job fetch_pmc --plan {input:q} --shards {params.shards:q} --url {params.url:q}"
        " --folder {params.folder:q} --output {output:q} --version {params.version:q} {params.places.mirror:q}"
        " > {log:q} 2>&1"
