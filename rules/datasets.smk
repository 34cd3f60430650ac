"""Convert the files of a dataset to examples and check their counts; its documents."""


rule convert:
    input:
        raw=lambda w: graph.datasets.conversion_inputs(w.dataset),
    output:
        graph.paths.dataset_files("{dataset}"),
    log:
        graph.paths.log(graph.paths.dataset("{dataset}")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.convert.resources,
    params:
        **graph.convert.params,
        inputs=lambda w: graph.datasets.arguments(w.dataset),
    message:
        graph.convert.label
    shell:
        "python -m pubmill.job convert --recipe {params.recipe:q} {params.inputs:q}"
        " --output {params.places.results:q}/datasets/{wildcards.dataset:q} > {log:q} 2>&1"


rule sentence_documents:
    input:
        unpack(graph.sentence_documents.inputs_of),
    output:
        graph.paths.sentence_documents("{dataset}"),
    log:
        graph.paths.log(graph.paths.sentence_documents("{dataset}").removesuffix(".jsonl.gz")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.sentence_documents.resources,
    params:
        **graph.sentence_documents.params,
    message:
        graph.sentence_documents.label
    shell:
        "python -m pubmill.job sentence_documents --recipe {params.recipe:q} --copies {input.copies:q}"
        " --examples {params.places.results:q}/datasets/{wildcards.dataset:q} --output {output:q} > {log:q} 2>&1"


rule dataset_notices:
    input:
        documents=lambda w: graph.dataset_notices.files_with_pmids(),
        parsed=lambda w: graph.corpora.parsed(w.corpus),
    output:
        graph.paths.corpus("{corpus}", "dataset-notices.json"),
    log:
        graph.paths.log(graph.paths.corpus("{corpus}", "dataset-notices")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.dataset_notices.resources,
    params:
        **graph.dataset_notices.params,
        parsed=graph.paths.parsed(),
    message:
        graph.dataset_notices.label
    shell:
        "python -m pubmill.job dataset_notices --recipe {params.recipe:q} --parsed {params.parsed:q}"
        " --results {params.places.results:q} --output {output:q} > {log:q} 2>&1"
