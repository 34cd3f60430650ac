"""Tables beside their published numbers, and the report of a study."""


rule table:
    input:
        records=lambda w: T.record_files(f"{w.paper}/{w.table}"),
        published=lambda w: T.published(f"{w.paper}/{w.table}", ROOT / "specs"),
    output:
        [f"{R}/tables/{{paper}}/{{table}}.{form}" for form in T.TABLE_FORMS],
    log:
        f"{R}/logs/tables/{{paper}}/{{table}}.log",
    params:
        version=T.version("table"),
        recipe=lambda w: as_json(T.table_recipe(f"{w.paper}/{w.table}")),
    message:
        "Building {wildcards.paper}/{wildcards.table}"
    shell:
        "python {SCRIPTS:q}/table.py --recipe {params.recipe:q} --published {input.published:q} --results {R:q}"
        " --output {R:q}/tables/{wildcards.paper}/{wildcards.table} > {log:q} 2>&1"


rule report:
    input:
        T.report_inputs(),
    output:
        T.report(),
    log:
        f"{R}/logs/reports/{STUDY.study}.log",
    params:
        version=T.version("report"),
        recipe=as_json(T.report_recipe()),
    message:
        "Writing the report {output}"
    shell:
        "python {SCRIPTS:q}/report.py --recipe {params.recipe:q} --results {R:q} --output {output:q} > {log:q} 2>&1"
