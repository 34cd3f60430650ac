"""Audit of the published values."""


rule audit:
    input:
        [published_values(table, ROOT / "specs") for table in [*SPECS.tables, *SPECS.fact_tables]],
    output:
        graph.audit.files(),
    log:
        graph.paths.log(graph.audit.page),
    conda:
        "../../envs/data.yaml"
    resources:
        **graph.audit.resources,
    params:
        **graph.audit.params,
        stem=untracked(lambda w: graph.audit.page),
    message:
        graph.audit.label
    shell:
        "python {params.places.extras:q}/audit/programs/audit.py --recipe {params.recipe:q} --specs {params.places.specs:q}"
        " --output {params.stem:q} > {log:q} 2>&1"
