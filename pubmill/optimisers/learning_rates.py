"""The learning rate over a training: a linear rise to the peak, then a linear fall to zero."""


def triangle(step: int, steps: int, rising: float, top: float) -> tuple[float, float]:
    """Return the share of the peak rate at `step` (from 0) of `steps`, as numerator and denominator.

    The rate rises over the first `rising` steps. It falls on the line from the peak at `top` to zero at
    `steps`, one step after the last. Pretraining has its peak once, at the last step of the rise (`top` is
    `rising - 1`); fine-tuning has it at the next step too (`top` is `rising`).
    """
    if step + 1 <= rising:
        return step + 1, rising
    return min(steps - step, steps - top), steps - top
