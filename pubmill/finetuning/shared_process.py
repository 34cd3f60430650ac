"""The process that forks for the fine-tunings of a run: it loads torch, a model and its data once."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress

from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.hardware.forked_programs import Request, serve

ENVIRONMENT = {
    "HF_DEACTIVATE_ASYNC_LOAD": "1",  # no threads, which a fork would lack
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # looking for GPUs must not start CUDA, which a fork could not use
}


def serve_finetunings(number: int, job_of: Callable[[Sequence[str]], FinetuningJob]) -> None:
    """Serve at the listening socket `number`; return in a fork, whose arguments are those of its caller.

    `job_of` returns the job of a program's arguments.
    """
    threads = [0]
    os.environ |= ENVIRONMENT
    request = serve(number, lambda request: _load(request, job_of, threads))
    import torch

    torch.set_num_threads(int(request.environment.get("OMP_NUM_THREADS") or threads[0]))


def _load(request: Request, job_of: Callable[[Sequence[str]], FinetuningJob], threads: list[int]) -> None:
    """Load what the job of a request and its other seeds need; an error will be met, and reported, in the
    fork. `threads` receives torch's default number of threads, before it becomes 1: a fork has none."""
    with suppress(Exception, SystemExit):
        import torch

        from pubmill.finetuning.preloaded import preload
        from pubmill.finetuning.run import loads_of

        threads[0] = threads[0] or torch.get_num_threads()
        torch.set_num_threads(1)
        os.chdir(request.folder)
        preload(loads_of(job_of(request.arguments)))
