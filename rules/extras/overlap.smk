"""Scores of tables split by what the scored items share with training, and the years of documents."""


rule overlap:
    input:
        table=graph.paths.table("{results_table}", "json"),
        runs=lambda w: graph.overlap.run_files(w.results_table),
        beside=lambda w: graph.overlap.files_beside(w.results_table),
    output:
        graph.paths.overlap_files("{results_table}"),
    log:
        graph.paths.log(graph.paths.overlap("{results_table}")),
    wildcard_constraints:
        results_table=any_of(SPECS.tables),
    conda:
        "../../envs/data.yaml"
    resources:
        **graph.overlap.resources,
    params:
        **PLACES,
        version=graph.overlap.version_of,
        recipe=lambda w: graph.argument(graph.overlap.recipe(w.results_table)),
        stem=not_compared(lambda w: graph.paths.overlap(w.results_table)),
    message:
        graph.overlap.label
    shell:
        "python {params.extras:q}/overlap/programs/overlap.py --recipe {params.recipe:q}"
        " --table {input.table:q}"
        " --results {params.results:q} --output {params.stem:q}"
        " > {log:q} 2>&1"


rule document_years:
    input:
        documents=lambda w: graph.overlap.dated_files(),
        shards=lambda w: graph.corpora.parsed(w.corpus),
    output:
        graph.paths.corpus("{corpus}", "document-years.json"),
    log:
        graph.paths.log(graph.paths.corpus("{corpus}", "document-years.json").removesuffix(".json")),
    conda:
        "../../envs/data.yaml"
    resources:
        **graph.document_years.resources,
    params:
        **PLACES,
        version=graph.document_years.version_of,
        recipe=lambda w: graph.argument(graph.overlap.years_recipe(w.corpus)),
        parsed=graph.paths.parsed(),
    message:
        graph.document_years.label
    shell:
        "python {params.extras:q}/overlap/programs/document_years.py --recipe {params.recipe:q}"
        " --parsed {params.parsed:q}"
        " --results {params.results:q} --output {output:q} > {log:q} 2>&1"
