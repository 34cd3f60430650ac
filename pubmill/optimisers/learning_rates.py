"""Learning-rate schedule: a linear rise to the peak, then a linear fall to zero."""


def triangle(step: int, steps: int, rising: float, top: float) -> tuple[float, float]:
    """Return the share of the peak rate at `step` (from 0) of `steps`, as numerator and denominator.

    The rate rises over the first `rising` steps, then falls on the line from the peak at step `top` to zero
    at step `steps`, one after the last. Pretraining reaches its peak at one step, the last of the rise (`top`
    is `rising - 1`); fine-tuning stays at the peak for one more step (`top` is `rising`).
    """
    if step + 1 <= rising:
        return step + 1, rising
    return min(steps - step, steps - top), steps - top
