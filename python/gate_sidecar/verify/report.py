"""The result of a verification ("Verifying a bundle")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, Optional

from .forms import Refused, Undecided

OK = "ok"
FAILED = "failed"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Check:
    """One check, the part it belongs to, its result, and why if that is not `ok`."""

    check: str
    part: str
    result: str
    why: str


@dataclass(frozen=True)
class Report:
    """All checks, and what follows from them."""

    checks: tuple[Check, ...]
    assurance: str = "self-asserted"
    redacted: tuple[str, ...] = ()
    observed: Optional[str] = None

    def part_is_valid(self, part: str) -> bool:
        """Say if every check of a part is `ok`, `form` among them."""
        return all(check.result == OK for check in self.checks if check.part in (part, "all"))

    @property
    def verdict(self) -> str:
        """`valid`, or `invalid` if a check failed, or else `incomplete`."""
        results = {check.result for check in self.checks}
        if FAILED in results:
            return "invalid"
        return "incomplete" if UNKNOWN in results else "valid"

    @property
    def unattributed(self) -> bool:
        """Say if no check failed, and no pinned key vouches for who made the evidence."""
        return self.verdict == "incomplete" and any(
            check.check == "certificate" and check.result == UNKNOWN for check in self.checks
        )

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON value."""
        return {
            "verdict": self.verdict,
            "valid": self.verdict == "valid",
            "signatureValid": self.part_is_valid("signature"),
            "chainValid": self.part_is_valid("chain"),
            "timestampValid": self.part_is_valid("time"),
            "assurance": self.assurance,
            "redacted": list(self.redacted),
            **({} if self.observed is None else {"observed": self.observed}),
            "checks": [vars(check) for check in self.checks],
        }


def fail_form(why: str) -> Report:
    """Return the report when the form is wrong: no other check is made."""
    return Report((Check("form", "all", FAILED, why),))


def run_checks(
    parts: Mapping[str, str], functions: Mapping[str, Callable[[], None]]
) -> tuple[Check, ...]:
    """Make the checks in the order of `parts`. A check without a function is `ok`: `form`."""
    return tuple(_run_check(name, part, functions.get(name, _pass)) for name, part in parts.items())


def _pass() -> None:
    """The check `form` has passed before any other check is made."""


def _run_check(name: str, part: str, function: Callable[[], None]) -> Check:
    try:
        function()
    except Refused as why:
        return Check(name, part, FAILED, str(why))
    except Undecided as why:
        return Check(name, part, UNKNOWN, str(why))
    return Check(name, part, OK, "")


def report_lines(report: Report) -> list[str]:
    """Return the report for people: a line for each check, and the verdict."""
    lines = [f"{check.check:<12} {_result_text(check)}" for check in report.checks]
    verdict = report.verdict.upper()
    name = "UNATTRIBUTED (no pinned key)" if report.unattributed else verdict
    limits = "; ".join(_limits(report))
    lines.append(f"{name} ({limits})" if limits else name)
    return lines


def _limits(report: Report) -> list[str]:
    """Return what the verdict does not say, in the words of `gate-sidecar evidence verify`."""
    limits = []
    if report.verdict == "valid" and report.assurance == "self-asserted":
        limits.append("only the service vouches for the time")
    if report.observed is not None:
        limits.append(f"only observed: the policies decided {report.observed}")
    if report.redacted:
        limits.append(f"erased: {', '.join(report.redacted)}")
    return limits


def _result_text(check: Check) -> str:
    if check.result == OK:
        return "ok"
    return f"{'FAILED' if check.result == FAILED else UNKNOWN}: {check.why}"
