"""Download source files, alone, a block of a corpus's or articles of PMC; copy the user's own; parse them."""


rule download:
    output:
        file=graph.paths.source("{path}"),
        source=graph.paths.source_record(graph.paths.source("{path}")),
    log:
        graph.paths.log("download/{path}"),
    wildcard_constraints:
        path=r"(?!blocks/|local/|pmc/|released/).+(?<!\.source\.json)",
    conda:
        "../envs/data.yaml"
    resources:
        **graph.download.resources,
        downloads=1,
    params:
        **graph.download.params,
        url=lambda w: f"https://{w.path}",
        checks=lambda w: graph.sources.checks(f"https://{w.path}"),
        how=untracked(lambda w: "Copying from the mirror" if STUDY.mirror else "Downloading"),
    message:
        graph.download.label
    shell:
        "python -m pubmill.job download --url {params.url:q} --output {output.file:q}"
        " {params.checks:q} {params.places.mirror:q} > {log:q} 2>&1"


rule fetch_files:
    output:
        f"{SOURCES}/{BLOCK}",
    log:
        graph.paths.log("download/{source}/{block}"),
    wildcard_constraints:
        source=any_of(graph.corpora.source_names("pubmed") + graph.corpora.source_names("pmc-packages")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.fetch_files.resources,
        downloads=1,
    params:
        **graph.fetch_files.params,
        sources=lambda w: SOURCES,
    message:
        graph.fetch_files.label
    shell:
        "python -m pubmill.job fetch_files --recipe {params.recipe:q} --sources {params.sources:q}"
        " --output {output:q} --version {params.version:q} {params.places.mirror:q} > {log:q} 2>&1"


rule take_local:
    input:
        lambda w: graph.sources.check_local_file(w.key, w.name),
    output:
        file=graph.paths.local_source("{key}", "{name}"),
        source=graph.paths.source_record(graph.paths.local_source("{key}", "{name}")),
    log:
        graph.paths.log("download/local/{key}/{name}"),
    wildcard_constraints:
        key="[^/]+",
        name=r"[^/]+(?<!\.source\.json)",
    conda:
        "../envs/data.yaml"
    resources:
        **graph.take_local.resources,
    params:
        **graph.take_local.params,
        url=untracked(lambda w: Path(graph.sources.local_file(w.key, w.name)).as_uri()),
        checks=lambda w: graph.sources.local_checks(w.key, w.name),
    message:
        graph.take_local.label
    shell:
        "python -m pubmill.job download --url {params.url:q} --output {output.file:q}"
        " {params.checks:q} > {log:q} 2>&1"


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
