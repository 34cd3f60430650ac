"""Trials of a search in blocks of points, the choice, final runs with all their seeds, and their records."""

from pubmill.storage.result_paths import ChoiceKey, RunKey

RUN = RunKey("{protocol}", "{model}", "{dataset}", "{setting}")
CHOICE = graph.paths.choice(ChoiceKey("{protocol}", None, "{dataset}", "{setting}"))


rule trial:
    input:
        files=lambda w: graph.runs.trial_inputs(run_of(w), w.trial),
    output:
        graph.paths.trials(RUN, "{trial}"),
    log:
        graph.paths.log(graph.paths.trials(RUN, "{trial}").removesuffix(".json")),
    benchmark:
        graph.paths.benchmark("trial", graph.paths.trials(RUN, "{trial}").removesuffix(".json"))
    conda:
        "../envs/training.yaml"
    resources:
        **graph.trial.resources,
        gpu_slots=1,
    params:
        **graph.trial.params,
        model=lambda w: graph.runs.first_model(run_of(w)),
        arguments=graph.trial.arguments,
    message:
        graph.trial.label
    shell:
        "python {params.places.scripts:q}/finetune.py --trials {params.recipe:q} --model {params.model:q}"
        " --dataset {params.places.results:q}/datasets/{wildcards.dataset:q} {params.arguments:q}"
        " --version {params.version:q} --output {output:q} > {log:q} 2>&1"


rule choose:
    input:
        trials=lambda w: graph.runs.trial_manifests(graph.choose.choice_of(w)),
    output:
        CHOICE,
    log:
        graph.paths.log(CHOICE.removesuffix(".json")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.choose.resources,
    params:
        **graph.choose.params,
    message:
        graph.choose.label
    shell:
        "python -m pubmill.job select_trial --trials {input.trials:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


use rule choose as choose_for_model with:
    input:
        trials=lambda w: graph.runs.trial_manifests(graph.choose_for_model.choice_of(w)),
    output:
        graph.paths.choice(ChoiceKey(*RUN)),
    log:
        graph.paths.log(graph.paths.choice(ChoiceKey(*RUN)).removesuffix(".json")),
    resources:
        **graph.choose_for_model.resources,
    params:
        **graph.choose_for_model.params,
    message:
        graph.choose_for_model.label


rule finetune:
    input:
        files=lambda w: graph.runs.inputs(run_of(w)),
    output:
        graph.paths.runs(RUN),
    log:
        graph.paths.log(graph.paths.runs(RUN).removesuffix(".json")),
    benchmark:
        graph.paths.benchmark("finetune", graph.paths.runs(RUN).removesuffix(".json"))
    conda:
        "../envs/training.yaml"
    resources:
        **graph.finetune.resources,
        gpu_slots=1,
    params:
        **graph.finetune.params,
        model=lambda w: graph.runs.first_model(run_of(w)),
        arguments=graph.finetune.arguments,
    message:
        graph.finetune.label
    shell:
        "python {params.places.scripts:q}/finetune.py --recipe {params.recipe:q} --model {params.model:q}"
        " --dataset {params.places.results:q}/datasets/{wildcards.dataset:q} {params.arguments:q}"
        " --version {params.version:q} --output {output:q} > {log:q} 2>&1"


rule score:
    input:
        runs=graph.paths.runs(RUN),
        examples=lambda w: graph.runs.scored_examples(run_of(w)),
    output:
        graph.paths.records(RUN),
    log:
        graph.paths.log(graph.paths.records(RUN).removesuffix(".json")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.score.resources,
    params:
        **graph.score.params,
    message:
        graph.score.label
    shell:
        "python -m pubmill.job score --runs {input.runs:q} --examples {input.examples:q}"
        " --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"
