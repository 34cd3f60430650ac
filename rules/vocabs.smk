"""Count words by part, learn or copy vocabularies, and measure how they fit datasets."""


rule count_words:
    input:
        T.paths.part("{corpus}", "{part}"),
    output:
        T.paths.word_counts("{corpus}", "{splitting}", "{part}"),
    log:
        T.paths.log(T.paths.word_counts("{corpus}", "{splitting}", "{part}", "")),
    wildcard_constraints:
        part=r"\d{4}",
        splitting="[^/]+",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("count_words"),
    params:
        **PLACES,
        version=VERSIONS["count"],
        recipe=lambda w: as_json(T.vocabularies.counting_recipe(w.splitting)),
    message:
        "Counting words of {wildcards.corpus}, part {wildcards.part} ({wildcards.splitting})"
    shell:
        "python {params.scripts:q}/count_words.py --part {input:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule train_vocab:
    input:
        lambda w: T.vocabularies.word_counts(w.vocab),
    output:
        T.paths.vocab_files("{vocab}"),
    log:
        T.paths.log(T.paths.vocab("{vocab}")),
    wildcard_constraints:
        vocab=any_of(T.vocabularies.learnt()),
    conda:
        "../envs/data.yaml"
    threads: 2
    resources:
        **needs("train_vocab"),
    params:
        **PLACES,
        words=lambda w: T.vocabularies.words_folder(w.vocab),
        parts=lambda w: T.vocabularies.parts(w.vocab),
        version=VERSIONS["vocab"],
        recipe=lambda w: as_json(T.vocabularies.recipe(w.vocab)),
    message:
        "Learning the vocabulary {wildcards.vocab}"
    shell:
        "python {params.scripts:q}/train_vocab.py --words {params.words:q} --parts {params.parts:q}"
        " --output {params.results:q}/vocabs/{wildcards.vocab:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule take_vocab:
    input:
        lambda w: T.paths.model_files(T.vocabularies.model(w.vocab)),
    output:
        T.paths.vocab_files("{vocab}"),
    log:
        T.paths.log(T.paths.vocab("{vocab}")),
    wildcard_constraints:
        vocab=any_of(T.vocabularies.released()),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("take_vocab"),
    params:
        **PLACES,
        version=VERSIONS["vocab"],
        model=lambda w: T.paths.model(T.vocabularies.model(w.vocab)),
    message:
        "Copying the vocabulary {wildcards.vocab}"
    shell:
        "python {params.scripts:q}/take_vocab.py --model {params.model:q}"
        " --output {params.results:q}/vocabs/{wildcards.vocab:q} > {log:q} 2>&1"


rule vocab_diagnosis:
    input:
        vocab=lambda w: T.paths.vocab_files(w.vocab),
        dataset=lambda w: T.paths.dataset_files(w.dataset),
    output:
        T.paths.fit("{vocab}", "{dataset}"),
    log:
        T.paths.log(T.paths.vocab("{vocab}", "on/{dataset}")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("vocab_diagnosis"),
    params:
        **PLACES,
        version=VERSIONS["fit"],
        recipe=lambda w: as_json(T.vocabularies.fit_recipe(w.vocab, w.dataset)),
    message:
        "Diagnosing the vocabulary {wildcards.vocab} on {wildcards.dataset}"
    shell:
        "python {params.scripts:q}/vocab_diagnosis.py --vocab {params.results:q}/vocabs/{wildcards.vocab:q}"
        " --dataset {params.results:q}/datasets/{wildcards.dataset:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"
