"""Tables with their published values, pages of datasets, and the report of a study."""


rule table:
    input:
        records=lambda w: T.tables.record_files(w.results_table),
        published=lambda w: published_values(w.results_table, ROOT / "specs"),
        others=lambda w: T.tables.other_files(w.results_table),
        others_published=lambda w: [
            published_values(name, ROOT / "specs") for name in T.tables.others(w.results_table)
        ],
        audit=lambda w: T.audit.verdicts(),
        floors=lambda w: T.tables.floor_files(w.results_table),
    output:
        T.paths.table_files("{results_table}"),
    log:
        T.paths.log(T.paths.table("{results_table}")),
    wildcard_constraints:
        results_table=any_of(SPECS.tables),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("table"),
    params:
        **PLACES,
        version=VERSIONS["table"],
        recipe=lambda w: as_json(T.tables.recipe(w.results_table)),
        found=lambda w: T.records.digest_of(T.tables.all_found_records(w.results_table)),
        audit=lambda w: as_arguments({"audit": path for path in T.audit.verdicts()}),
        stem=not_compared(lambda w: T.paths.table(w.results_table)),
    message:
        "Building {wildcards.results_table}"
    shell:
        "python {params.scripts:q}/table.py --recipe {params.recipe:q} --published {input.published:q}"
        " --results {params.results:q} {params.audit:q}"
        " --output {params.stem:q} > {log:q} 2>&1"


rule compare:
    input:
        table=T.paths.table("{results_table}", "json"),
        contributions=lambda w: T.tables.contribution_files(w.results_table),
    output:
        T.paths.comparison_files("{results_table}"),
    log:
        T.paths.log(T.paths.comparisons("{results_table}")),
    wildcard_constraints:
        results_table=any_of(SPECS.tables),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("compare"),
    params:
        **PLACES,
        version=VERSIONS["compare"],
        stem=not_compared(lambda w: T.paths.comparisons(w.results_table)),
    message:
        "Comparing the models of {wildcards.results_table}"
    shell:
        "python {params.scripts:q}/compare.py --table {input.table:q} --results {params.results:q}"
        " --output {params.stem:q} > {log:q} 2>&1"


rule overlap:
    input:
        table=T.paths.table("{results_table}", "json"),
        runs=lambda w: T.overlap.run_files(w.results_table),
        beside=lambda w: T.overlap.files_beside(w.results_table),
    output:
        T.paths.overlap_files("{results_table}"),
    log:
        T.paths.log(T.paths.overlap("{results_table}")),
    wildcard_constraints:
        results_table=any_of(SPECS.tables),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("overlap"),
    params:
        **PLACES,
        version=VERSIONS["overlap"],
        recipe=lambda w: as_json(T.overlap.recipe(w.results_table)),
        stem=not_compared(lambda w: T.paths.overlap(w.results_table)),
    message:
        "Splitting the scores of {wildcards.results_table} by what items share with training"
    shell:
        "python {params.scripts:q}/overlap.py --recipe {params.recipe:q} --table {input.table:q}"
        " --results {params.results:q} --output {params.stem:q}"
        " > {log:q} 2>&1"


rule fact_table:
    input:
        facts=lambda w: T.fact_tables.files(w.fact_table),
        published=lambda w: published_values(w.fact_table, ROOT / "specs"),
    output:
        T.paths.table_files("{fact_table}"),
    log:
        T.paths.log(T.paths.table("{fact_table}")),
    wildcard_constraints:
        fact_table=any_of(SPECS.fact_tables),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("fact_table"),
    params:
        **PLACES,
        version=VERSIONS["fact_table"],
        recipe=lambda w: as_json(T.fact_tables.recipe(w.fact_table)),
    message:
        "Building {wildcards.fact_table}"
    shell:
        "python {params.scripts:q}/fact_table.py --recipe {params.recipe:q} --published {input.published:q}"
        " --results {params.results:q} --output {params.results:q}/tables/{wildcards.fact_table:q}"
        " > {log:q} 2>&1"


rule dataset_page:
    input:
        lambda w: T.pages.inputs(w.dataset),
    output:
        T.paths.page_files("{dataset}"),
    log:
        T.paths.log(T.paths.page("{dataset}")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("dataset_page"),
    params:
        **PLACES,
        version=VERSIONS["page"],
        recipe=lambda w: as_json(T.pages.recipe(w.dataset)),
    message:
        "Writing the page of {wildcards.dataset}"
    shell:
        "python {params.scripts:q}/dataset_page.py --recipe {params.recipe:q} --results {params.results:q}"
        " --output {params.results:q}/pages/datasets/{wildcards.dataset:q} > {log:q} 2>&1"


rule contradictions:
    input:
        [published_values(table, ROOT / "specs") for table in SPECS.tables],
    output:
        T.paths.contradiction_files(),
    log:
        T.paths.log(T.paths.contradictions()),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("contradictions"),
    params:
        **PLACES,
        version=VERSIONS["contradictions"],
        recipe=lambda w: as_json(T.contradictions.recipe()),
    message:
        "Writing the page of contradictions"
    shell:
        "python {params.scripts:q}/contradictions.py --recipe {params.recipe:q} --specs {params.specs:q}"
        " --output {params.results:q}/pages/contradictions > {log:q} 2>&1"


rule audit:
    input:
        [published_values(table, ROOT / "specs") for table in [*SPECS.tables, *SPECS.fact_tables]],
    output:
        T.paths.audit_files(),
    log:
        T.paths.log(T.paths.audit()),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("audit"),
    params:
        **PLACES,
        version=VERSIONS["audit"],
        recipe=lambda w: T.audit.digest(),
    message:
        "Auditing the published values"
    shell:
        "python {params.scripts:q}/audit.py --specs {params.specs:q}"
        " --output {params.results:q}/reports/audit > {log:q} 2>&1"


rule report:
    input:
        lambda w: T.report.inputs(),
    output:
        T.paths.report(STUDY.study, "html"),
    log:
        T.paths.log(T.paths.report(STUDY.study)),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("report"),
    params:
        **PLACES,
        version=VERSIONS["report"],
        recipe=lambda w: as_json(T.report.recipe(T.report.statement_files(ROOT / "specs"))),
    message:
        "Writing the report {output}"
    shell:
        "python {params.scripts:q}/report.py --recipe {params.recipe:q} --results {params.results:q}"
        " --output {output:q} > {log:q} 2>&1"


rule checklist:
    input:
        lambda w: T.checklist.inputs(),
    output:
        T.paths.checklist_files(STUDY.study),
    log:
        T.paths.log(T.paths.checklist(STUDY.study)),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("checklist"),
    params:
        **PLACES,
        version=VERSIONS["checklist"],
        recipe=lambda w: as_json(T.checklist.recipe()),
        stem=not_compared(lambda w: T.paths.checklist(STUDY.study)),
    message:
        "Filling the reproducibility checklist"
    shell:
        "python {params.scripts:q}/checklist.py --recipe {params.recipe:q} --results {params.results:q}"
        " --output {params.stem:q} > {log:q} 2>&1"


rule basis:
    input:
        lambda w: T.proof.basis_inputs(w.results_table),
        published=lambda w: [
            published_values(name, ROOT / "specs")
            for name in (w.results_table, *T.tables.others(w.results_table))
        ],
    output:
        T.paths.table_basis("{results_table}"),
    log:
        T.paths.log(T.paths.table_basis("{results_table}")),
    wildcard_constraints:
        results_table=any_of(SPECS.tables),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("basis"),
    params:
        **PLACES,
        version=VERSIONS["basis"],
        recipe=lambda w: as_json(T.proof.basis_recipe(w.results_table)),
        found=lambda w: T.records.digest_of(T.tables.all_found_records(w.results_table)),
    message:
        "Ranking the models of {wildcards.results_table}, for the proof"
    shell:
        "python {params.scripts:q}/basis.py --recipe {params.recipe:q} --specs {params.specs:q}"
        " --results {params.results:q} --output {output:q} > {log:q} 2>&1"


rule proof:
    input:
        lambda w: T.proof.inputs(),
        published=lambda w: T.proof.published(ROOT / "specs"),
    output:
        proof=T.paths.proof(STUDY.study),
        digest=T.paths.proof_digest(STUDY.study),
    log:
        T.paths.log(T.paths.proof(STUDY.study)),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("proof"),
    params:
        **PLACES,
        version=VERSIONS["proof"],
        recipe=lambda w: as_json(T.proof.recipe()),
    message:
        "Packing the proof {output.proof}"
    shell:
        "python {params.scripts:q}/proof.py --recipe {params.recipe:q} --specs {params.specs:q}"
        " --results {params.results:q} --output {output.proof:q} > {log:q} 2>&1"


rule crate:
    input:
        lambda w: T.crate.inputs(),
    output:
        directory(T.paths.crate(STUDY.study)),
    log:
        T.paths.log(T.paths.crate(STUDY.study)),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("crate"),
    params:
        **PLACES,
        version=VERSIONS["crate"],
        recipe=lambda w: as_json(T.crate.recipe()),
    message:
        "Packing the RO-Crate {output}"
    shell:
        "python {params.scripts:q}/crate.py --recipe {params.recipe:q} --results {params.results:q}"
        " --output {output:q} > {log:q} 2>&1"
