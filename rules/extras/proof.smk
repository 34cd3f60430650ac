"""The proof of a study."""


rule basis:
    input:
        lambda w: graph.proof.basis_inputs(w.results_table),
        published=lambda w: [
            published_values(name, ROOT / "specs")
            for name in (w.results_table, *graph.tables.others(w.results_table))
        ],
    output:
        graph.paths.table_basis("{results_table}"),
    log:
        graph.paths.log(graph.paths.table_basis("{results_table}")),
    wildcard_constraints:
        results_table=any_of(SPECS.tables),
    conda:
        "../../envs/data.yaml"
    resources:
        **graph.basis.resources,
    params:
        **PLACES,
        version=graph.basis.version_of,
        recipe=lambda w: graph.argument(graph.proof.basis_recipe(w.results_table)),
        found=lambda w: graph.records.digest_of(graph.tables.all_found_records(w.results_table)),
    message:
        graph.basis.label
    shell:
        "python {params.extras:q}/proof/programs/basis.py --recipe {params.recipe:q} --specs {params.specs:q}"
        " --results {params.results:q} --output {output:q} > {log:q} 2>&1"


rule proof:
    input:
        lambda w: graph.proof.inputs(),
        published=lambda w: graph.proof.published(ROOT / "specs"),
    output:
        proof=graph.paths.proof(STUDY.study),
        digest=graph.paths.proof_digest(STUDY.study),
    log:
        graph.paths.log(graph.paths.proof(STUDY.study)),
    conda:
        "../../envs/data.yaml"
    resources:
        **graph.proof.resources,
    params:
        **PLACES,
        version=graph.proof.version_of,
        recipe=lambda w: graph.argument(graph.proof.recipe()),
    message:
        graph.proof.label
    shell:
        "python {params.extras:q}/proof/programs/proof.py --recipe {params.recipe:q} --specs {params.specs:q}"
        " --results {params.results:q} --output {output.proof:q} > {log:q} 2>&1"
