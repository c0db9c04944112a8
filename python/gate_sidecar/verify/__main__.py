"""The command line: python3 -m gate_sidecar.verify FILE_OR_FOLDER --trust trust.json"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import NoReturn, Optional

from .anchors import read_anchors
from .bundle import verify_bundle
from .export import MANIFEST, MAX_MANIFEST_BYTES, verify_export
from .forms import Refused, parse_time
from .report import Report, report_lines
from .strict_json import MAX_BYTES
from .trust import Trust, read_trust

EXIT_CODES = {"valid": 0, "invalid": 1, "incomplete": 2}
COULD_NOT_RUN = 3


class CouldNotRun(Exception):
    """The verification could not be made. The text says why."""


class Arguments(argparse.ArgumentParser):
    """A parser whose errors have the exit code 3: its own code, 2, is that of `incomplete`."""

    def error(self, message: str) -> NoReturn:
        raise CouldNotRun(message)


def main(arguments: Optional[list[str]] = None) -> int:
    """Verify what the arguments name, print the report, and return the exit code.

    Every error ends here: Python's own exit code for one, 1, is that of the verdict invalid.
    """
    try:
        options = _parse_arguments(arguments)
        report = _verify(options)
    except Exception as why:
        print(f"could not run: {why}", file=sys.stderr)
        return COULD_NOT_RUN
    if options.json:
        print(json.dumps(report.as_json(), indent=2))
    else:
        print("\n".join(report_lines(report)))
    return EXIT_CODES[report.verdict]


def _parse_arguments(arguments: Optional[list[str]]) -> argparse.Namespace:
    parser = Arguments(
        prog="python3 -m gate_sidecar.verify",
        description="Verify a bundle, an envelope, a policy change or the export of a range.",
    )
    parser.add_argument("path", metavar="FILE_OR_FOLDER")
    parser.add_argument("--trust", metavar="FILE", help="the trust file; without it: unpinned")
    parser.add_argument("--anchors", metavar="FILE", help="anchors, one a line")
    parser.add_argument("--now", metavar="TIME", help="the time to use in place of the clock")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser.parse_args(arguments)


def _verify(options: argparse.Namespace) -> Report:
    try:
        trust = Trust() if options.trust is None else read_trust(_read_whole(options.trust))
    except Refused as why:
        raise CouldNotRun(f"the trust file is refused: {why}") from None
    try:
        now = time.time_ns() // 10**6 if options.now is None else parse_time(options.now, "--now")
    except Refused as why:
        raise CouldNotRun(str(why)) from None
    anchors = [] if options.anchors is None else read_anchors(_read_whole(options.anchors))
    if not os.path.isdir(options.path):
        return verify_bundle(_read_whole(options.path), trust, now, anchors)
    if not os.path.isfile(os.path.join(options.path, MANIFEST)):
        raise CouldNotRun("the folder has no manifest.json")
    if os.path.getsize(os.path.join(options.path, MANIFEST)) > MAX_MANIFEST_BYTES:
        raise CouldNotRun("the manifest has more than 16 MiB")
    return verify_export(options.path, trust, now, anchors)


def _read_whole(path: str) -> bytes:
    """Read a file that may not be too large."""
    with open(path, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise CouldNotRun(f"{path} has more than 64 MiB")
    return data


if __name__ == "__main__":
    sys.exit(main())
