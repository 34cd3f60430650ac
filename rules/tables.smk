"""Tables with their published values, and what is computed from a table."""


rule table:
    input:
        records=lambda w: graph.tables.record_files(table_of(w.results_table)),
        published=lambda w: published_values(table_of(w.results_table), ROOT / "specs"),
        others=lambda w: graph.tables.other_files(table_of(w.results_table)),
        others_published=lambda w: [
            published_values(name, ROOT / "specs") for name in graph.tables.others(table_of(w.results_table))
        ],
    output:
        graph.paths.table_files("{results_table}"),
    log:
        graph.paths.log(graph.paths.table("{results_table}")),
    wildcard_constraints:
        results_table=any_of(map(table_stem, SPECS.tables)),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.table.resources,
    params:
        **graph.table.params,
        recipe=lambda w: graph.argument(graph.tables.recipe(table_of(w.results_table))),
        found=lambda w: graph.records.digest_of(graph.tables.all_found_records(table_of(w.results_table))),
        stem=untracked(lambda w: graph.paths.table(w.results_table)),
    message:
        graph.table.label
    shell:
        "python -m pubmill.job table --recipe {params.recipe:q} --published {input.published:q}"
        " --results {params.places.results:q} --output {params.stem:q} > {log:q} 2>&1"


rule compare:
    input:
        table=graph.paths.table("{results_table}", "json"),
        records=lambda w: graph.tables.record_files(table_of(w.results_table)),
    output:
        graph.paths.comparison_files("{results_table}"),
    log:
        graph.paths.log(graph.paths.comparisons("{results_table}")),
    wildcard_constraints:
        results_table=any_of(map(table_stem, SPECS.tables)),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.compare.resources,
    params:
        **graph.compare.params,
        stem=untracked(lambda w: graph.paths.comparisons(w.results_table)),
    message:
        graph.compare.label
    shell:
        "python -m pubmill.job compare --table {input.table:q} --results {params.places.results:q}"
        " --output {params.stem:q} > {log:q} 2>&1"


rule fact_table:
    input:
        facts=lambda w: graph.fact_tables.files(table_of(w.fact_table)),
        published=lambda w: published_values(table_of(w.fact_table), ROOT / "specs"),
    output:
        graph.paths.table_files("{fact_table}"),
    log:
        graph.paths.log(graph.paths.table("{fact_table}")),
    wildcard_constraints:
        fact_table=any_of(map(table_stem, SPECS.fact_tables)),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.fact_table.resources,
    params:
        **graph.fact_table.params,
        recipe=lambda w: graph.argument(graph.fact_tables.recipe(table_of(w.fact_table))),
        stem=untracked(lambda w: graph.paths.table(w.fact_table)),
    message:
        graph.fact_table.label
    shell:
        "python -m pubmill.job fact_table --recipe {params.recipe:q} --published {input.published:q}"
        " --results {params.places.results:q} --output {params.stem:q} > {log:q} 2>&1"
