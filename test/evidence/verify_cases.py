"""Verifies many cases in one process: a line of [evidence, trust, anchors, now], a line of report."""

import json
import os
import sys
from functools import lru_cache

from gate_sidecar.verify import ed25519, read_anchors, read_trust, verify_bundle, verify_export
from gate_sidecar.verify.__main__ import EXIT_CODES
from gate_sidecar.verify.forms import parse_time

# Most signatures are the same in all cases.
ed25519.verify = lru_cache(None)(ed25519.verify)

for line in sys.stdin:
    evidence, trust, anchors, now = json.loads(line)
    means = read_trust(trust.encode()), parse_time(now, "now"), read_anchors(anchors.encode())
    if os.path.isdir(evidence):
        report = verify_export(evidence, *means)
    else:
        report = verify_bundle(evidence.encode("utf-8", "surrogatepass"), *means)
    end = {"exitCode": EXIT_CODES[report.verdict], "isUnattributed": report.unattributed}
    print(json.dumps({**report.as_json(), **end}))
