"""Count words by part, learn or copy vocabularies, and measure how they fit datasets."""


rule count_words:
    input:
        graph.paths.part("{corpus}", "{part}"),
    output:
        graph.paths.word_counts("{corpus}", "{splitting}", "{part}"),
    log:
        graph.paths.log(graph.paths.word_counts("{corpus}", "{splitting}", "{part}", "")),
    wildcard_constraints:
        part=r"\d{4}",
        splitting="[^/]+",
    conda:
        "../envs/data.yaml"
    resources:
        **graph.count_words.resources,
    params:
        **PLACES,
        version=graph.count_words.version_of,
        recipe=lambda w: as_json(graph.vocabularies.counting_recipe(w.splitting)),
    message:
        graph.count_words.label
    shell:
        "python {params.scripts:q}/count_words.py --part {input:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule train_vocab:
    input:
        lambda w: graph.vocabularies.word_counts(w.vocab),
    output:
        graph.paths.vocab_files("{vocab}"),
    log:
        graph.paths.log(graph.paths.vocab("{vocab}")),
    wildcard_constraints:
        vocab=any_of(graph.vocabularies.learnt()),
    conda:
        "../envs/data.yaml"
    threads: 2
    resources:
        **graph.train_vocab.resources,
    params:
        **PLACES,
        words=lambda w: graph.vocabularies.words_folder(w.vocab),
        parts=lambda w: graph.vocabularies.parts(w.vocab),
        version=graph.train_vocab.version_of,
        recipe=lambda w: as_json(graph.vocabularies.recipe(w.vocab)),
    message:
        graph.train_vocab.label
    shell:
        "python {params.scripts:q}/train_vocab.py --words {params.words:q} --parts {params.parts:q}"
        " --output {params.results:q}/vocabs/{wildcards.vocab:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule take_vocab:
    input:
        lambda w: graph.paths.model_files(graph.vocabularies.model(w.vocab)),
    output:
        graph.paths.vocab_files("{vocab}"),
    log:
        graph.paths.log(graph.paths.vocab("{vocab}")),
    wildcard_constraints:
        vocab=any_of(graph.vocabularies.released()),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.take_vocab.resources,
    params:
        **PLACES,
        version=graph.take_vocab.version_of,
        model=lambda w: graph.paths.model(graph.vocabularies.model(w.vocab)),
    message:
        graph.take_vocab.label
    shell:
        "python {params.scripts:q}/take_vocab.py --model {params.model:q}"
        " --output {params.results:q}/vocabs/{wildcards.vocab:q} > {log:q} 2>&1"


rule vocab_diagnosis:
    input:
        vocab=lambda w: graph.paths.vocab_files(w.vocab),
        dataset=lambda w: graph.paths.dataset_files(w.dataset),
    output:
        graph.paths.fit("{vocab}", "{dataset}"),
    log:
        graph.paths.log(graph.paths.vocab("{vocab}", "on/{dataset}")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.vocab_diagnosis.resources,
    params:
        **PLACES,
        version=graph.vocab_diagnosis.version_of,
        recipe=lambda w: as_json(graph.vocabularies.fit_recipe(w.vocab, w.dataset)),
    message:
        graph.vocab_diagnosis.label
    shell:
        "python {params.scripts:q}/vocab_diagnosis.py --vocab {params.results:q}/vocabs/{wildcards.vocab:q}"
        " --dataset {params.results:q}/datasets/{wildcards.dataset:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"
