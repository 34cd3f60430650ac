"""Floors of datasets, and the page of a study's floors."""


rule floors:
    input:
        graph.paths.dataset_files("{dataset}"),
    output:
        graph.paths.at("floors/{dataset}.json"),
    log:
        graph.paths.log("floors/{dataset}"),
    conda:
        "../../envs/floors.yaml"
    resources:
        **graph.floors.resources,
    params:
        **graph.floors.params,
    message:
        graph.floors.label
    shell:
        "python {params.places.extras:q}/floors/programs/floors.py --recipe {params.recipe:q}"
        " --examples {params.places.results:q}/datasets/{wildcards.dataset:q} --output {output:q} > {log:q} 2>&1"


rule floors_page:
    input:
        lambda w: graph.floors_page.inputs(),
    output:
        **dict(zip(("json", "html"), graph.floors_page.files())),
    log:
        graph.paths.log(graph.paths.report(STUDY.study, "floors")),
    conda:
        "../../envs/data.yaml"
    resources:
        **graph.floors_page.resources,
    params:
        **graph.floors_page.params,
    message:
        graph.floors_page.label
    shell:
        "python {params.places.extras:q}/floors/programs/floors_page.py --recipe {params.recipe:q}"
        " --results {params.places.results:q} --output {output.html:q} > {log:q} 2>&1"
