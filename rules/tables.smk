"""Tables beside their published numbers, pages of datasets, and the report of a study."""


rule table:
    input:
        records=lambda w: T.record_files(w.results_table),
        published=lambda w: T.published(w.results_table, ROOT / "specs"),
    output:
        [f"{R}/tables/{{results_table}}.{form}" for form in T.TABLE_FORMS],
    log:
        f"{R}/logs/tables/{{results_table}}.log",
    wildcard_constraints:
        results_table=any_of(SPECS.tables),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("table"),
    params:
        version=T.version("table"),
        recipe=lambda w: as_json(T.table_recipe(w.results_table)),
        found=lambda w: T.digest_of(T.found_records(w.results_table)),
    message:
        "Building {wildcards.results_table}"
    shell:
        "python {SCRIPTS:q}/table.py --recipe {params.recipe:q} --published {input.published:q} --results {R:q}"
        " --output {R:q}/tables/{wildcards.results_table:q} > {log:q} 2>&1"


rule compare:
    input:
        table=f"{R}/tables/{{results_table}}.json",
        contributions=lambda w: T.item_files(w.results_table),
    output:
        [f"{R}/tables/{{results_table}}.comparisons.{form}" for form in T.COMPARISON_FORMS],
    log:
        f"{R}/logs/tables/{{results_table}}.comparisons.log",
    wildcard_constraints:
        results_table=any_of(SPECS.tables),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("compare"),
    params:
        version=T.version("compare"),
    message:
        "Comparing the models of {wildcards.results_table}"
    shell:
        "python {SCRIPTS:q}/compare.py --table {input.table:q} --results {R:q}"
        " --output {R:q}/tables/{wildcards.results_table:q}.comparisons > {log:q} 2>&1"


rule fact_table:
    input:
        facts=lambda w: T.fact_files(w.fact_table),
        published=lambda w: T.published(w.fact_table, ROOT / "specs"),
    output:
        [f"{R}/tables/{{fact_table}}.{form}" for form in T.TABLE_FORMS],
    log:
        f"{R}/logs/tables/{{fact_table}}.log",
    wildcard_constraints:
        fact_table=any_of(SPECS.fact_tables),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("fact_table"),
    params:
        version=T.version("fact_table"),
        recipe=lambda w: as_json(T.fact_table_recipe(w.fact_table)),
    message:
        "Building {wildcards.fact_table}"
    shell:
        "python {SCRIPTS:q}/fact_table.py --recipe {params.recipe:q} --published {input.published:q} --results {R:q}"
        " --output {R:q}/tables/{wildcards.fact_table:q} > {log:q} 2>&1"


rule dataset_page:
    input:
        lambda w: T.page_inputs(w.dataset),
    output:
        [f"{R}/pages/datasets/{{dataset}}.{form}" for form in T.PAGE_FORMS],
    log:
        f"{R}/logs/pages/datasets/{{dataset}}.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("dataset_page"),
    params:
        version=T.version("page"),
        recipe=lambda w: as_json(T.page_recipe(w.dataset)),
    message:
        "Writing the page of {wildcards.dataset}"
    shell:
        "python {SCRIPTS:q}/dataset_page.py --recipe {params.recipe:q} --results {R:q}"
        " --output {R:q}/pages/datasets/{wildcards.dataset:q} > {log:q} 2>&1"


rule contradictions:
    input:
        [T.published(table, ROOT / "specs") for table in SPECS.tables],
    output:
        T.contradictions(),
    log:
        f"{R}/logs/pages/contradictions.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("contradictions"),
    params:
        version=T.version("contradictions"),
        recipe=lambda w: as_json(T.contradictions_recipe()),
    message:
        "Writing the page of contradictions"
    shell:
        "python {SCRIPTS:q}/contradictions.py --recipe {params.recipe:q} --specs {ROOT:q}/specs"
        " --output {R:q}/pages/contradictions > {log:q} 2>&1"


rule report:
    input:
        lambda w: T.report_inputs(),
    output:
        T.report(),
    log:
        f"{R}/logs/reports/{STUDY.study}.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("report"),
    params:
        version=T.version("report"),
        recipe=lambda w: as_json(T.report_recipe()),
    message:
        "Writing the report {output}"
    shell:
        "python {SCRIPTS:q}/report.py --recipe {params.recipe:q} --results {R:q} --output {output:q} > {log:q} 2>&1"


rule checklist:
    input:
        lambda w: T.checklist_inputs(),
    output:
        T.checklist_files(),
    log:
        f"{R}/logs/reports/{STUDY.study}.checklist.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("checklist"),
    params:
        version=T.version("checklist"),
        recipe=lambda w: as_json(T.checklist_recipe()),
    message:
        "Filling the reproducibility checklist"
    shell:
        "python {SCRIPTS:q}/checklist.py --recipe {params.recipe:q} --results {R:q}"
        " --output {R:q}/reports/{STUDY.study:q}.checklist > {log:q} 2>&1"


rule crate:
    input:
        lambda w: T.crate_inputs(),
    output:
        directory(T.crate()),
    log:
        f"{R}/logs/reports/{STUDY.study}.crate.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("crate"),
    params:
        version=T.version("crate"),
        recipe=lambda w: as_json(T.crate_recipe()),
    message:
        "Packing the RO-Crate {output}"
    shell:
        "python {SCRIPTS:q}/crate.py --recipe {params.recipe:q} --results {R:q} --output {output:q} > {log:q} 2>&1"
