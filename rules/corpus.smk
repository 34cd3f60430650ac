"""Download, parse, keep the latest version of each citation, select, count."""

MIRROR = f"--mirror {STUDY.mirror!r}" if STUDY.mirror else ""


rule download:
    output:
        file=f"{R}/sources/{{path}}",
        source=f"{R}/sources/{{path}}.source.json",
    log:
        f"{R}/logs/download/{{path}}.log",
    wildcard_constraints:
        path=r".+(?<!\.source\.json)",
    resources:
        downloads=1,
    params:
        version=T.version("download"),
        url=lambda w: T.download(w.path)["url"],
        checks=lambda w: T.download_checks(w.path),
    shell:
        "python {SCRIPTS}/download.py --url {params.url:q} --output {output.file:q} {params.checks} {MIRROR} > {log:q} 2>&1"


rule parse_medline:
    input:
        lambda w: T.raw(w.source, w.shard),
    output:
        f"{R}/corpora/parsed/{{source}}/{{shard}}.parquet",
    log:
        f"{R}/logs/parse/{{source}}/{{shard}}.log",
    wildcard_constraints:
        source="|".join(T.source_names("pubmed")) or "(?!)",
    params:
        version=T.version("parse"),
        recipe=lambda w: as_json(T.parse_recipe(w.source)),
    shell:
        "python {SCRIPTS}/parse_medline.py --input {input:q} --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule parse_text:
    input:
        lambda w: T.raw(w.source, w.shard),
    output:
        f"{R}/corpora/parsed/{{source}}/{{shard}}.parquet",
    log:
        f"{R}/logs/parse/{{source}}/{{shard}}.log",
    wildcard_constraints:
        source="|".join(T.source_names("text")) or "(?!)",
    params:
        version=T.version("parse"),
        recipe=lambda w: as_json(T.parse_recipe(w.source)),
    shell:
        "python {SCRIPTS}/parse_text.py --input {input:q} --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule latest_versions:
    input:
        lambda w: T.parsed(w.corpus),
    output:
        f"{R}/corpora/{{corpus}}/latest.parquet",
    log:
        f"{R}/logs/corpora/{{corpus}}/latest.log",
    params:
        version=T.version("latest"),
        recipe=lambda w: as_json(T.latest_recipe(w.corpus)),
    shell:
        "python {SCRIPTS}/latest_versions.py --shards {input:q} --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule select_documents:
    input:
        shard=lambda w: T.parsed(w.corpus)[int(w.part)],
        latest=f"{R}/corpora/{{corpus}}/latest.parquet",
    output:
        part=f"{R}/corpora/{{corpus}}/part-{{part}}.parquet",
        statistics=f"{R}/corpora/{{corpus}}/part-{{part}}.json",
    log:
        f"{R}/logs/corpora/{{corpus}}/part-{{part}}.log",
    wildcard_constraints:
        part=r"\d{4}",
    params:
        version=T.version("select"),
        recipe=lambda w: as_json(T.selection_recipe(w.corpus)),
        index=lambda w: int(w.part),
    shell:
        "python {SCRIPTS}/select_documents.py --shard {input.shard:q} --index {params.index} --latest {input.latest:q}"
        " --output {output.part:q} --statistics {output.statistics:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule corpus_statistics:
    input:
        parts=lambda w: T.parts(w.corpus),
        statistics=lambda w: [path.replace(".parquet", ".json") for path in T.parts(w.corpus)],
    output:
        manifest=f"{R}/corpora/{{corpus}}/manifest.parquet",
        statistics=f"{R}/corpora/{{corpus}}/stats.json",
    log:
        f"{R}/logs/corpora/{{corpus}}/statistics.log",
    params:
        version=T.version("statistics"),
        recipe=lambda w: as_json({"corpus": w.corpus}),
    shell:
        "python {SCRIPTS}/corpus_statistics.py --parts {input.parts:q}"
        " --manifest {output.manifest:q} --output {output.statistics:q} --recipe {params.recipe:q} > {log:q} 2>&1"
