"""Download source files, or copy the user's own."""


rule download:
    output:
        file=T.paths.source("{path}"),
        source=T.paths.source_record(T.paths.source("{path}")),
    log:
        T.paths.log("download/{path}"),
    wildcard_constraints:
        path=r"(?!local/|pmc/|released/).+(?<!\.source\.json)",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("download"),
        downloads=1,
    params:
        **PLACES,
        version=VERSIONS["download"],
        url=lambda w: f"https://{w.path}",
        checks=lambda w: T.sources.checks(f"https://{w.path}"),
    message:
        "Downloading {params.url}"
    shell:
        "python {params.scripts:q}/download.py --url {params.url:q} --output {output.file:q}"
        " {params.checks:q} {params.mirror:q} > {log:q} 2>&1"


rule take_local:
    input:
        lambda w: T.sources.check_local_file(w.key, w.name),
    output:
        file=T.paths.local_source("{key}", "{name}"),
        source=T.paths.source_record(T.paths.local_source("{key}", "{name}")),
    log:
        T.paths.log("download/local/{key}/{name}"),
    wildcard_constraints:
        key="[^/]+",
        name=r"[^/]+(?<!\.source\.json)",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("take_local"),
    params:
        **PLACES,
        version=VERSIONS["download"],
        url=not_compared(lambda w: Path(T.sources.local_file(w.key, w.name)).as_uri()),
        checks=lambda w: T.sources.local_checks(w.key, w.name),
    message:
        "Copying {wildcards.name} ({wildcards.key})"
    shell:
        "python {params.scripts:q}/download.py --url {params.url:q} --output {output.file:q}"
        " {params.checks:q} > {log:q} 2>&1"
