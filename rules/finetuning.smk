"""Trials of the hyper-parameter search, the choice, final runs and their models."""

from pubmill.storage.result_paths import PREDICTIONS, TRAINING, ChoiceKey, RunKey

RUN = RunKey("{protocol}", "{model}", "{dataset}", "{setting}")
TRIAL, FINAL = (RUN, "{trial}", "{seed}"), (RUN, "{seed}")
CHOICE = graph.paths.choice(ChoiceKey("{protocol}", None, "{dataset}", "{setting}"))


rule trial:
    input:
        unpack(graph.trial.inputs_of),
    output:
        predictions=graph.paths.trial(*TRIAL, PREDICTIONS),
        training=graph.paths.trial(*TRIAL, TRAINING),
    log:
        graph.paths.log(graph.paths.trial(*TRIAL)),
    benchmark:
        graph.paths.benchmark("trial", graph.paths.trial(*TRIAL))
    group:
        graph.trial.bundle
    conda:
        "../envs/training.yaml"
    resources:
        **graph.trial.resources,
        gpu_slots=1,
    params:
        **PLACES,
        **graph.trial.params,
        model=lambda w: graph.runs.first_model(run_of(w)),
        splits=lambda w: graph.runs.split_arguments(w.protocol, w.dataset, trial=True),
    message:
        graph.trial.label
    shell:
        "python {params.scripts:q}/finetune.py --recipe {params.recipe:q} --model {params.model:q}"
        " --dataset {params.results:q}/datasets/{wildcards.dataset:q} --seed {wildcards.seed:q}"
        " {params.splits:q} --output {output.predictions:q} > {log:q} 2>&1"


rule choose:
    input:
        unpack(graph.choose.inputs_of),
    output:
        CHOICE,
    log:
        graph.paths.log(CHOICE.removesuffix(".json")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.choose.resources,
    params:
        **PLACES,
        **graph.choose.params,
    message:
        graph.choose.label
    shell:
        "python {params.scripts:q}/select_trial.py --trials {input.trials:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


use rule choose as choose_for_model with:
    input:
        unpack(graph.choose_for_model.inputs_of),
    output:
        graph.paths.choice(ChoiceKey(*RUN)),
    log:
        graph.paths.log(graph.paths.choice(ChoiceKey(*RUN)).removesuffix(".json")),
    resources:
        **graph.choose_for_model.resources,
    params:
        **PLACES,
        **graph.choose_for_model.params,
    message:
        graph.choose_for_model.label


rule task_model:
    input:
        unpack(graph.task_model.inputs_of),
    output:
        model=directory(graph.paths.task_model(*FINAL)),
        predictions=graph.paths.task_model(*FINAL, PREDICTIONS),
        training=graph.paths.task_model(*FINAL, TRAINING),
    log:
        graph.paths.log(graph.paths.task_model(*FINAL)),
    benchmark:
        graph.paths.benchmark("task_model", graph.paths.task_model(*FINAL))
    conda:
        "../envs/training.yaml"
    resources:
        **graph.task_model.resources,
        gpu_slots=1,
    params:
        **PLACES,
        **graph.task_model.params,
        model=lambda w: graph.runs.first_model(run_of(w)),
        selected=lambda w: graph.runs.selected_arguments(run_of(w)),
        splits=lambda w: graph.runs.split_arguments(w.protocol, w.dataset, trial=False),
    message:
        graph.task_model.label
    shell:
        "python {params.scripts:q}/finetune.py --recipe {params.recipe:q} {params.selected:q}"
        " --model {params.model:q} --dataset {params.results:q}/datasets/{wildcards.dataset:q}"
        " --seed {wildcards.seed:q} {params.splits:q} --output {output.predictions:q} --keep {output.model:q}"
        " > {log:q} 2>&1"


rule finetune:
    input:
        unpack(graph.finetune.inputs_of),
    output:
        predictions=graph.paths.predictions(*FINAL),
        training=graph.paths.training(*FINAL),
    log:
        graph.paths.log(graph.paths.final(*FINAL)),
    benchmark:
        graph.paths.benchmark("finetune", graph.paths.final(*FINAL))
    group:
        graph.finetune.bundle
    conda:
        "../envs/training.yaml"
    resources:
        **graph.finetune.resources,
        gpu_slots=1,
    params:
        **PLACES,
        **graph.finetune.params,
        model=lambda w: graph.runs.first_model(run_of(w)),
        selected=lambda w: graph.runs.selected_arguments(run_of(w)),
        splits=lambda w: graph.runs.split_arguments(w.protocol, w.dataset, trial=False),
        kept=lambda w: graph.runs.kept_arguments(run_of(w), int(w.seed)),
    message:
        graph.finetune.label
    shell:
        "python {params.scripts:q}/finetune.py --recipe {params.recipe:q} {params.selected:q}"
        " --model {params.model:q} --dataset {params.results:q}/datasets/{wildcards.dataset:q}"
        " --seed {wildcards.seed:q} {params.splits:q} {params.kept:q} --output {output.predictions:q}"
        " > {log:q} 2>&1"
