"""The runs of an application's jobs. What follows on a write of the same output, and adds to it, is the same run.

An application that appends to a table ten times, from ten sources, is one run of one job with all ten as its inputs: as
ten runs, the last one would be taken for all of its lineage.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from whence_client.events.ids import run_id
from whence_client.events.runs import RunRef


@dataclass
class JobRuns:
    """The numbers of the runs so far, by job."""

    application: RunRef
    _numbers: dict[str, int] = field(default_factory=dict)
    _is_open: set[str] = field(default_factory=set)

    def next_run(self, job: str, *, adds: bool, failed: bool) -> RunRef:
        """The run of a write by `job`. `adds`: it keeps what is there, as an append or a merge does."""
        number = self._numbers.get(job, 0)
        if not (adds and not failed and job in self._is_open):
            number += 1
        self._numbers[job] = number
        (self._is_open.discard if failed else self._is_open.add)(job)
        root = self.application.root or self.application
        return RunRef(self.application.namespace, job, run_id("spark", self.application.run_id, job, number), root)
