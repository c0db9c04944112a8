"""The two tiers of tests: `npm test`, and `npm run test:full`."""

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

FULL = os.environ.get("TEST_TIER") == "full"

T = TypeVar("T")


def some(cases: Iterable[T]) -> Iterator[T]:
    """All of them in the full tier, and every tenth in the fast one."""
    return islice(cases, 0, None, 1 if FULL else 10)
