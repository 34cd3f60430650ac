"""Tables beside their published numbers, pages of datasets, and the report of a study."""

import re


rule table:
    input:
        records=lambda w: T.record_files(w.results_table),
        published=lambda w: T.published(w.results_table, ROOT / "specs"),
    output:
        [f"{R}/tables/{{results_table}}.{form}" for form in T.TABLE_FORMS],
    log:
        f"{R}/logs/tables/{{results_table}}.log",
    wildcard_constraints:
        results_table="|".join(map(re.escape, SPECS.tables)) or "(?!)",
    conda:
        "../envs/data.yaml"
    params:
        version=T.version("table"),
        recipe=lambda w: as_json(T.table_recipe(w.results_table)),
    message:
        "Building {wildcards.results_table}"
    shell:
        "python {SCRIPTS:q}/table.py --recipe {params.recipe:q} --published {input.published:q} --results {R:q}"
        " --output {R:q}/tables/{wildcards.results_table} > {log:q} 2>&1"


rule dataset_table:
    input:
        cards=lambda w: T.card_files(w.dataset_table),
        published=lambda w: T.published(w.dataset_table, ROOT / "specs"),
    output:
        [f"{R}/tables/{{dataset_table}}.{form}" for form in T.TABLE_FORMS],
    log:
        f"{R}/logs/tables/{{dataset_table}}.log",
    wildcard_constraints:
        dataset_table="|".join(map(re.escape, SPECS.dataset_tables)) or "(?!)",
    conda:
        "../envs/data.yaml"
    params:
        version=T.version("dataset_table"),
        recipe=lambda w: as_json(T.dataset_table_recipe(w.dataset_table)),
    message:
        "Building {wildcards.dataset_table}"
    shell:
        "python {SCRIPTS:q}/dataset_table.py --recipe {params.recipe:q} --published {input.published:q} --results {R:q}"
        " --output {R:q}/tables/{wildcards.dataset_table} > {log:q} 2>&1"


rule dataset_page:
    input:
        plainly(lambda w: T.page_inputs(w.dataset)),
    output:
        [f"{R}/pages/datasets/{{dataset}}.{form}" for form in T.PAGE_FORMS],
    log:
        f"{R}/logs/pages/datasets/{{dataset}}.log",
    conda:
        "../envs/data.yaml"
    params:
        version=T.version("page"),
        recipe=lambda w: as_json(T.page_recipe(w.dataset)),
    message:
        "Writing the page of {wildcards.dataset}"
    shell:
        "python {SCRIPTS:q}/dataset_page.py --recipe {params.recipe:q} --results {R:q}"
        " --output {R:q}/pages/datasets/{wildcards.dataset:q} > {log:q} 2>&1"


rule report:
    input:
        plainly(lambda w: T.report_inputs()),
    output:
        T.report(),
    log:
        f"{R}/logs/reports/{STUDY.study}.log",
    conda:
        "../envs/data.yaml"
    params:
        version=T.version("report"),
        recipe=lambda w: as_json(T.report_recipe()),
    message:
        "Writing the report {output}"
    shell:
        "python {SCRIPTS:q}/report.py --recipe {params.recipe:q} --results {R:q} --output {output:q} > {log:q} 2>&1"
