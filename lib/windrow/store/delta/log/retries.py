"""Another writer was ahead: how that is said, and how something is done again then."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, TypeVar

from windrow.spec.errors import WindrowError, another_writer
from windrow.store.delta.lease import MOST, Lease

ATTEMPTS = 5
"""How often something is computed again when others have committed meanwhile."""


class StepTaken(WindrowError):
    """Another writer owns the step: read the log again and compute again."""

    def __init__(self, log: str, step: int, writer: str | None) -> None:
        super().__init__(f"step {step} of {log} was written by {writer or 'another writer'}")
        self.log = log
        self.step = step
        self.writer = writer

    @property
    def in_words(self) -> str:
        return another_writer(str(self))


Made = TypeVar("Made")


def tried_again(do: Callable[[], Made], look: Callable[[], Any] | None = None, lease: Lease | None = None) -> Made:
    """Do something, again where another writer was ahead; `look` at what there is in between. Errors: StepTaken.

    A batch gives the lease of its lake: from the second attempt on, streams let it go first. One that takes longer than
    they wait would have nothing of that.
    """
    is_ours = False
    with ExitStack() as leases:
        for _ in range(ATTEMPTS - 1):
            began = time.monotonic()
            try:
                return do()
            except StepTaken:
                if lease is not None and not is_ours and time.monotonic() - began < MOST:
                    leases.enter_context(lease.taken())
                    is_ours = True
                if look is not None:
                    look()
        return do()
