"""How verdicts are written: each as soon as it is known, or all together in the formats that are one document."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from vigil_lang.cli.output import REPORTS, Format, console, for_log, show_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.verdict import Verdict


class Writer:
    """Takes what judging comes to and writes it to a stream. Raises OSError where that cannot be written."""

    def __init__(self, target: IO[str], format: Format) -> None:  # noqa: A002 - the option's name
        self._target = target
        self._format = format
        self._collected = None
        self._clean: list[Verdict] = []
        """Of the format for people, the runs since the last unsafe one that are safe: many are told in one line."""
        if format in REPORTS:
            from vigil_lang.report.verdicts import Verdicts

            self._collected = Verdicts(steps=format == "sarif")

    @property
    def at_the_end(self) -> bool:
        """Whether nothing is written before `finish`, so that even what cannot be judged has a place in it."""
        return self._collected is not None

    @property
    def tells_all(self) -> bool:
        """Whether a verdict is written with what it rests on, so that only warnings need saying beside it."""
        return self._format in ("human", "json", "json-lines")

    def add(self, verdict: Verdict, remarks: Sequence[Diagnostic], *, alone: bool) -> None:
        """Take a verdict with what is doubtful about it; `alone` where it is the only one."""
        if self._collected is not None:
            self._collected.add(verdict)
            self._collected.remark(remarks)
        elif self._format == "human" and not alone and verdict.safe:
            self._clean.append(verdict)
        else:
            self.settle()
            self._write(verdict, alone=alone)
            self._target.flush()

    def settle(self) -> None:
        """Write what is held back: no more verdicts come, or something else is said."""
        if self._clean:
            from vigil_lang.verdict.human import print_clean

            print_clean(self._clean, console(self._target))
            self._clean.clear()
            self._target.flush()

    def broken(self, findings: Sequence[Diagnostic]) -> None:
        """Take what kept a run, or the policies, from being judged."""
        if self._collected is not None:
            self._collected.broken(findings)

    def remark(self, findings: Sequence[Diagnostic]) -> None:
        """Take what is doubtful about all verdicts together."""
        if self._collected is not None:
            self._collected.remark(findings)

    def finish(self, status: int) -> int:
        """Write what is to be written at the end; gives back the exit status."""
        if self._collected is not None:
            show_report(self._collected.report(status), self._format, self._target)
        return status

    def _write(self, verdict: Verdict, *, alone: bool) -> None:
        if self._format == "human":
            from vigil_lang.verdict.human import print_verdict

            print_verdict(verdict, console(self._target), alone=alone)
        elif self._format == "concise":
            from vigil_lang.report.recording import event_lines
            from vigil_lang.verdict.concise import lines

            stream = for_log(self._target)
            places = event_lines(verdict.trace, {offence.index for _, offence in verdict.offences()})
            for line in lines(verdict, places):
                print(line, file=stream)
        else:
            from vigil_lang.diagnostics.visible import safe_json

            print(safe_json(verdict.to_json()), file=self._target)
