"""Download source files, one by one or a block of a corpus's, or copy the user's own."""


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
