"""PMC: plan its bucket, fetch the articles of each shard into one archive, and parse them."""


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
        **PLACES,
        version=graph.plan_pmc.version_of,
        url=lambda w: graph.corpora.source(w.source).url,
        inventory=lambda w: str(graph.corpora.source(w.source).inventory),
    message:
        graph.plan_pmc.label
    shell:
        "python {params.scripts:q}/plan_pmc.py --url {params.url:q} --inventory {params.inventory:q}"
        " --output {output:q} {params.mirror:q} > {log:q} 2>&1"


rule fetch_pmc:
    input:
        graph.paths.pmc_plan("{source}"),
    output:
        file=graph.paths.pmc_archive("{source}", "{shard}"),
        source=graph.paths.source_record(graph.paths.pmc_archive("{source}", "{shard}")),
    log:
        graph.paths.log("download/pmc/{source}/{shard}"),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.fetch_pmc.resources,
        downloads=1,
    params:
        **PLACES,
        version=graph.fetch_pmc.version_of,
        url=lambda w: graph.corpora.source(w.source).url,
    message:
        graph.fetch_pmc.label
    shell:
        "python {params.scripts:q}/fetch_pmc.py --plan {input:q} --shard {wildcards.shard:q}"
        " --url {params.url:q} --output {output.file:q} {params.mirror:q} > {log:q} 2>&1"


rule parse_pmc:
    input:
        unpack(graph.parse_pmc.inputs_of),
    output:
        graph.paths.parsed_shard("{source}", "{shard}"),
    log:
        graph.paths.log("parse/{source}/{shard}"),
    benchmark:
        graph.paths.benchmark("parse_pmc", "parse/{source}/{shard}")
    wildcard_constraints:
        source=any_of(graph.corpora.source_names("pmc") + graph.corpora.source_names("pmc-packages")),
    group:
        graph.parse_pmc.bundle
    conda:
        "../envs/data.yaml"
    resources:
        **graph.parse_pmc.resources,
    params:
        **PLACES,
        **graph.parse_pmc.params,
        filelist=lambda w: [f"--filelist={path}" for path in graph.corpora.filelists(w.source, w.shard)],
    message:
        graph.parse_pmc.label
    shell:
        "python {params.scripts:q}/parse_pmc.py --input {input.raw:q} {params.filelist:q}"
        " --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"
