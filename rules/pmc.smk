"""PMC: the plan of its bucket, the articles of each shard in one archive, and their parsing."""


rule plan_pmc:
    output:
        f"{R}/sources/pmc/{{source}}/plan.parquet",
    log:
        f"{R}/logs/download/pmc/{{source}}.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("plan_pmc"),
        downloads=1,
    params:
        version=T.version("plan_pmc"),
        url=lambda w: T.source_spec(w.source).url,
        inventory=lambda w: str(T.source_spec(w.source).inventory),
    message:
        "Planning the articles of {wildcards.source}"
    shell:
        "python {SCRIPTS:q}/plan_pmc.py --url {params.url:q} --inventory {params.inventory:q} --output {output:q}"
        " {MIRROR:q} > {log:q} 2>&1"


rule fetch_pmc:
    input:
        f"{R}/sources/pmc/{{source}}/plan.parquet",
    output:
        file=f"{R}/sources/pmc/{{source}}/{{shard}}.tar.gz",
        source=f"{R}/sources/pmc/{{source}}/{{shard}}.tar.gz.source.json",
    log:
        f"{R}/logs/download/pmc/{{source}}/{{shard}}.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("fetch_pmc"),
        downloads=1,
    params:
        version=T.version("fetch_pmc"),
        url=lambda w: T.source_spec(w.source).url,
    message:
        "Fetching articles {wildcards.shard} of {wildcards.source}"
    shell:
        "python {SCRIPTS:q}/fetch_pmc.py --plan {input:q} --shard {wildcards.shard:q} --url {params.url:q}"
        " --output {output.file:q} {MIRROR:q} > {log:q} 2>&1"


rule parse_pmc:
    input:
        archive=lambda w: T.raw(w.source, w.shard),
        filelists=lambda w: T.filelists(w.source, w.shard),
    output:
        f"{R}/corpora/parsed/{{source}}/{{shard}}.parquet",
    log:
        f"{R}/logs/parse/{{source}}/{{shard}}.log",
    wildcard_constraints:
        source=any_of(T.source_names("pmc") + T.source_names("pmc-packages")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("parse_pmc"),
    params:
        version=T.version("parse"),
        recipe=lambda w: as_json(T.parse_recipe(w.source, w.shard)),
        filelist=lambda w: [f"--filelist={path}" for path in T.filelists(w.source, w.shard)],
    message:
        "Parsing {input.archive}"
    shell:
        "python {SCRIPTS:q}/parse_pmc.py --input {input.archive:q} {params.filelist:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"
