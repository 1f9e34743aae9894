"""Counting what passed, and keeping the first complaint."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bmin_derivations.records import Verdict


@dataclass(slots=True)
class Tally:
    """Passed and all, and the first complaint with its verdict."""

    passed: int = 0
    total: int = 0
    verdict: Verdict = Verdict.PROVED
    reason: str = ""

    def add(self, verdict: Verdict, reason: str) -> None:
        """Count one more; a refutation replaces a complaint that is none."""
        self.total += 1
        if verdict is Verdict.PROVED:
            self.passed += 1
        elif self.verdict is not Verdict.REFUTED and (
            not self.reason or verdict is Verdict.REFUTED
        ):
            self.verdict, self.reason = verdict, reason

    @property
    def count(self) -> tuple[int, int]:
        """(passed, all)."""
        return self.passed, self.total


def worst(tallies: Iterable[Tally]) -> tuple[Verdict, str]:
    """The worst verdict of all, and its reason."""
    found = list(tallies)
    for wanted in (Verdict.REFUTED, Verdict.REFUSED, Verdict.UNDECIDED):
        for tally in found:
            if tally.verdict is wanted:
                return wanted, tally.reason
    return Verdict.PROVED, ""
