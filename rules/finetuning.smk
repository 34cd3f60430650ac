"""Trials of the hyper-parameter search, the choice, final runs and their models, and records."""

from pubmill.storage.result_paths import PREDICTIONS, TRAINING

RUN = ("{protocol}", "{model}", "{dataset}", "{setting}")
TRIAL = (*RUN, "{trial}", "{seed}")
FINAL = (*RUN, "{seed}")


rule trial:
    input:
        lambda w: graph.runs.trial_inputs(*run_of(w), w.trial),
    output:
        predictions=graph.paths.trial(*TRIAL, PREDICTIONS),
        training=graph.paths.trial(*TRIAL, TRAINING),
    log:
        graph.paths.log(graph.paths.trial(*TRIAL)),
    conda:
        "../envs/training.yaml"
    resources:
        **graph.trial.resources,
        gpu_slots=1,
    params:
        **PLACES,
        recipe=lambda w: as_json(graph.runs.trial_recipe(*run_of(w), w.trial)),
        version=graph.trial.version_of,
        model=lambda w: graph.runs.first_model(*run_of(w)),
        splits=lambda w: graph.runs.split_arguments(w.protocol, w.dataset, trial=True),
    message:
        graph.trial.label
    shell:
        "python {params.scripts:q}/finetune.py --recipe {params.recipe:q} --model {params.model:q}"
        " --dataset {params.results:q}/datasets/{wildcards.dataset:q} --seed {wildcards.seed:q}"
        " {params.splits:q} --output {output.predictions:q} > {log:q} 2>&1"


rule choose:
    input:
        lambda w: graph.runs.trial_training(w.protocol, None, w.dataset, w.setting),
    output:
        graph.paths.choice("{protocol}", None, "{dataset}", "{setting}"),
    log:
        graph.paths.log(
            graph.paths.choice("{protocol}", None, "{dataset}", "{setting}").removesuffix(".json")
        ),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.choose.resources,
    params:
        **PLACES,
        version=graph.choose.version_of,
        recipe=lambda w: as_json(graph.runs.choice_recipe(w.protocol, None, w.dataset, w.setting)),
    message:
        graph.choose.label
    shell:
        "python {params.scripts:q}/select_trial.py --trials {input:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


use rule choose as choose_for_model with:
    input:
        lambda w: graph.runs.trial_training(*run_of(w)),
    output:
        graph.paths.choice(*RUN),
    log:
        graph.paths.log(graph.paths.choice(*RUN).removesuffix(".json")),
    resources:
        **graph.choose_for_model.resources,
    params:
        **PLACES,
        version=graph.choose_for_model.version_of,
        recipe=lambda w: as_json(graph.runs.choice_recipe(*run_of(w))),
    message:
        graph.choose_for_model.label


rule task_model:
    input:
        lambda w: graph.runs.inputs(*run_of(w)),
    output:
        model=directory(graph.paths.task_model(*FINAL)),
        predictions=graph.paths.task_model(*FINAL, PREDICTIONS),
        training=graph.paths.task_model(*FINAL, TRAINING),
    log:
        graph.paths.log(graph.paths.task_model(*FINAL)),
    conda:
        "../envs/training.yaml"
    resources:
        **graph.task_model.resources,
        gpu_slots=1,
    params:
        **PLACES,
        recipe=lambda w: as_json(graph.runs.recipe(*run_of(w))),
        version=graph.task_model.version_of,
        model=lambda w: graph.runs.first_model(*run_of(w)),
        selected=lambda w: graph.runs.selected_arguments(*run_of(w)),
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
        run=lambda w: graph.runs.inputs(*run_of(w)),
        kept=lambda w: graph.runs.kept(*run_of(w), int(w.seed)),
    output:
        predictions=graph.paths.predictions(*FINAL),
        training=graph.paths.training(*FINAL),
    log:
        graph.paths.log(graph.paths.final(*FINAL)),
    conda:
        "../envs/training.yaml"
    resources:
        **graph.finetune.resources,
        gpu_slots=1,
    params:
        **PLACES,
        recipe=lambda w: as_json(graph.runs.recipe(*run_of(w))),
        version=graph.finetune.version_of,
        model=lambda w: graph.runs.first_model(*run_of(w)),
        selected=lambda w: graph.runs.selected_arguments(*run_of(w)),
        splits=lambda w: graph.runs.split_arguments(w.protocol, w.dataset, trial=False),
        kept=lambda w: graph.runs.kept_arguments(*run_of(w), int(w.seed)),
    message:
        graph.finetune.label
    shell:
        "python {params.scripts:q}/finetune.py --recipe {params.recipe:q} {params.selected:q}"
        " --model {params.model:q} --dataset {params.results:q}/datasets/{wildcards.dataset:q}"
        " --seed {wildcards.seed:q} {params.splits:q} {params.kept:q} --output {output.predictions:q}"
        " > {log:q} 2>&1"


rule score:
    input:
        predictions=graph.paths.predictions(*FINAL),
        training=graph.paths.training(*FINAL),
        examples=lambda w: graph.runs.scored_examples(*run_of(w)),
    output:
        record=graph.paths.record(*FINAL),
        contributions=graph.paths.contributions(graph.paths.record(*FINAL)),
    log:
        graph.paths.log(graph.paths.final(*FINAL) + ".score"),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.score.resources,
    params:
        **PLACES,
        version=graph.score.version_of,
        recipe=lambda w: as_json(graph.records.recipe(*run_of(w), int(w.seed))),
    message:
        graph.score.label
    shell:
        "python {params.scripts:q}/score.py --predictions {input.predictions:q} --training {input.training:q}"
        " --examples {input.examples:q} --output {output.record:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule transfer:
    input:
        model=graph.paths.task_model(*FINAL),
        examples=graph.paths.examples("{target}", "test"),
    output:
        graph.paths.transfer("{target}", *FINAL),
    log:
        graph.paths.log(graph.paths.transfer("{target}", *FINAL).removesuffix(".json")),
    wildcard_constraints:
        target="[^/]+",
    conda:
        "../envs/training.yaml"
    resources:
        **graph.transfer.resources,
        gpu_slots=1,
    params:
        **PLACES,
        recipe=lambda w: as_json(graph.transfers.recipe(*run_of(w), int(w.seed), w.target)),
        version=graph.transfer.version_of,
    message:
        graph.transfer.label
    shell:
        "python {params.scripts:q}/transfer.py --recipe {params.recipe:q} --model {input.model:q}"
        " --examples {input.examples:q} --output {output:q} > {log:q} 2>&1"


rule transfer_matrix:
    input:
        lambda w: graph.transfers.matrix_inputs(w.protocol, w.model, w.setting),
    output:
        graph.paths.transfers_files("{protocol}", "{model}", "{setting}"),
    log:
        graph.paths.log(graph.paths.transfers("{protocol}", "{model}", "{setting}")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.transfer_matrix.resources,
    params:
        **PLACES,
        recipe=lambda w: as_json(graph.transfers.matrix_recipe(w.protocol, w.model, w.setting)),
        version=graph.transfer_matrix.version_of,
        stem=lambda w: graph.paths.transfers(w.protocol, w.model, w.setting),
    message:
        graph.transfer_matrix.label
    shell:
        "python {params.scripts:q}/transfer_matrix.py --recipe {params.recipe:q} --results {params.results:q}"
        " --output {params.stem:q} > {log:q} 2>&1"
