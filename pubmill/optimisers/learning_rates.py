"""Learning-rate schedules: a linear rise to the peak, then a fall, at once or after a stable stretch."""


def triangle(step: int, steps: int, rising: float, top: float) -> tuple[float, float]:
    """Return the share of the peak rate at `step` (from 0) of `steps`, as numerator and denominator. The rate
    rises over the first `rising` steps, then falls on the line from the peak at step `top` to zero at step
    `steps`, one after the last. Pretraining reaches its peak at one step, the last of the rise (`top` is
    `rising - 1`); fine-tuning stays at the peak for one more step (`top` is `rising`)."""
    if step + 1 <= rising:
        return step + 1, rising
    return min(steps - step, steps - top), steps - top


def stable(step: int, steps: int, rising: int, falling: int, last: float, root: bool) -> float:
    """Return the share of the peak rate at `step` (from 0) of `steps`: 1 except in the first `rising` and the
    last `falling` steps. It falls towards the share `last`, which `step` = `steps` would have, linearly or
    with the root of the steps (Haegele et al. 2024, section 3.1: 1-sqrt; AnswerDotAI/ModernBERT@8c57a0f
    src/scheduler.py)."""
    if step + 1 <= rising:
        return (step + 1) / rising
    done = max(0.0, (step - (steps - falling)) / max(1, falling))
    return last + (1 - last) * (1 - (done**0.5 if root else done))
