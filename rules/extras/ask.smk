"""Answers of language models that are prompted."""


wildcard_constraints:
    asked=any_of(graph.supplied.asked_names()),


rule ask:
    input:
        unpack(graph.ask.inputs_of),
    output:
        graph.paths.answers("{asked}", "{dataset}", "{seed}"),
    log:
        graph.paths.log(graph.paths.answers("{asked}", "{dataset}", "{seed}").removesuffix(".jsonl")),
    conda:
        "../../envs/data.yaml"
    resources:
        **graph.ask.resources,
    params:
        **graph.ask.params,
        server=untracked(lambda w: graph.supplied.asked(w.asked).server),
        prompt=untracked(graph.ask.prompt_option),
        options=untracked(graph.ask.options),
        at_once=untracked(lambda w: graph.supplied.asked(w.asked).at_once),
    message:
        graph.ask.label
    shell:
        "python {params.places.extras:q}/ask/programs/ask.py --recipe {params.recipe:q}"
        " --server {params.server:q} --at-once {params.at_once:q} {params.prompt:q} {params.options:q}"
        " --dataset {params.places.results:q}/datasets/{wildcards.dataset:q} --output {output:q} > {log:q} 2>&1"
