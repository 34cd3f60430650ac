"""Vocabularies learnt from a corpus."""


rule train_vocab:
    input:
        lambda w: T.parts(SPECS.vocabs[w.vocab].corpus),
    output:
        [f"{R}/vocabs/{{vocab}}/{name}" for name in T.VOCAB_FILES],
    log:
        f"{R}/logs/vocabs/{{vocab}}.log",
    threads: 2
    params:
        version=T.version("vocab"),
        recipe=lambda w: as_json(T.vocab_recipe(w.vocab)),
    shell:
        "python {SCRIPTS}/train_vocab.py --parts {input:q} --output {R}/vocabs/{wildcards.vocab} --recipe {params.recipe:q} > {log:q} 2>&1"
