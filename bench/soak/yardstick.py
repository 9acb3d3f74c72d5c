"""How fast the machine is at the moment. Ticks are judged in relation to that: machines are noisy."""

from __future__ import annotations

import random
import time

_NUMBERS = random.Random(1).sample(range(1_000_000), 20_000)
_TIMES = 7


def sorting() -> float:
    """Milliseconds that it takes to sort 20,000 numbers; the least of a few: others at work lengthen most of them."""
    return min(_sorting() for _ in range(_TIMES))


def _sorting() -> float:
    began = time.perf_counter()
    sorted(_NUMBERS)
    return (time.perf_counter() - began) * 1000
