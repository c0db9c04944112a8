"""An independent verifier of signed evidence, written from docs/evidence.md alone."""

from .anchors import Anchor, read_anchors
from .bundle import verify_bundle
from .export import verify_export
from .forms import Refused
from .report import Check, Report
from .trust import Trust, read_trust

__all__ = [
    "Anchor",
    "Check",
    "Refused",
    "Report",
    "Trust",
    "read_anchors",
    "read_trust",
    "verify_bundle",
    "verify_export",
]
