"""The process that forks for the fine-tunings of a run: it loads torch, a model and its data once."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress

from pubmill.hardware.forked_programs import Request, serve, status_in_fork

ENVIRONMENT = {
    "HF_DEACTIVATE_ASYNC_LOAD": "1",  # no threads, which a fork would lack
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # looking for GPUs must not start CUDA, which a fork could not use
}


def in_forks(main: Callable[[], None], load: Callable[[], None]) -> Callable[[], None]:
    """Return a program that calls `main`: in a fork of a process like this, if the environment names one.

    With `--serve NUMBER` it is that process, at the listening socket NUMBER; `load` loads what `main` needs
    with the same arguments.
    """

    def start() -> None:
        if sys.argv[1:2] == ["--serve"]:
            _serve(int(sys.argv[2]), load)
        elif (status := status_in_fork()) is not None:
            raise SystemExit(status)
        main()

    return start


def _serve(number: int, load: Callable[[], None]) -> None:
    """Serve; return in a fork, whose arguments are those of its caller."""
    threads = [0]
    os.environ |= ENVIRONMENT
    request = serve(number, lambda request: _load(request, load, threads))
    import torch

    torch.set_num_threads(int(request.environment.get("OMP_NUM_THREADS") or threads[0]))


def _load(request: Request, load: Callable[[], None], threads: list[int]) -> None:
    """Load what a request needs; an error will be met, and reported, in the fork. `threads` receives torch's
    default number of threads, before it becomes 1: a fork has none."""
    with suppress(Exception, SystemExit):
        import torch

        threads[0] = threads[0] or torch.get_num_threads()
        torch.set_num_threads(1)
        os.chdir(request.folder)
        sys.argv[1:] = request.arguments
        load()
