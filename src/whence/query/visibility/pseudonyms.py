"""Pseudonyms for the names that one viewer may not see."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from dataclasses import field as field_
from hmac import digest as keyed
from typing import Self

from whence.model.access import Viewer
from whence.model.graph import AssertingEvent, AssertingRun, Evidence
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName, RunName

HIDDEN = "hidden"
"""The namespace of pseudonyms, and the replacement for hidden texts."""


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """One viewer's pseudonyms: 80 bits of a hash under `key`, which no other viewer has."""

    viewer: Viewer
    key: bytes
    _seen: dict[str, bool] = field_(default_factory=dict, repr=False, compare=False)
    """By namespace: whether its names are visible."""

    @classmethod
    def of(cls, viewer: Viewer, secret: bytes) -> Self:
        """The viewer's pseudonyms, from the secret of this installation."""
        return cls(viewer, keyed(secret, viewer.name.encode(), "sha256"))

    def text(self, kind: str, of: str | int) -> str:
        """The pseudonym of something of a kind."""
        return keyed(self.key, f"{kind}:{of}".encode("utf-8", "surrogatepass"), "sha256").hex()[:20]

    def can_see(self, name: DatasetName | JobName) -> bool:
        """Whether the viewer may see a dataset or job."""
        known = self._seen.get(name.namespace)
        if known is None:
            known = self._seen[name.namespace] = self.viewer.can_see(name)
        return known

    def dataset(self, name: DatasetName) -> DatasetName:
        """A dataset's name or pseudonym."""
        return name if self.can_see(name) else DatasetName(HIDDEN, self.text("dataset", node_id(name)))

    def job(self, name: JobName) -> JobName:
        """A job's name or pseudonym."""
        return name if self.can_see(name) else JobName(HIDDEN, self.text("job", node_id(name)))

    def field(self, group: Sequence[DatasetName], text: str) -> str:
        """The name or pseudonym of a field within its dataset, which has all the names of `group`."""
        if any(map(self.can_see, group)) and not any(self.viewer.is_hidden(one, text) for one in group):
            return text
        return self.field_token(group, text)

    def field_token(self, group: Sequence[DatasetName], text: str) -> str:
        """The pseudonym of a field within its dataset."""
        return f"{HIDDEN}-{self.text('field', node_id(FieldName(group[0], text)))}"

    def evidence(self, one: Evidence, sees_owner: bool) -> Evidence:
        """The evidence of a lineage set. Its digest is a hash of names, so it is never shown."""
        digest = self.text("set", one.digest)
        if sees_owner:
            return replace(one, digest=digest, runs=tuple(map(self._run, one.runs)))
        runs = tuple(map(self._hidden_run, one.runs))
        return replace(one, digest=digest, first=self.mask_event(one.first), last=self.mask_event(one.last), runs=runs)

    def _run(self, run: AssertingRun) -> AssertingRun:
        return run if self.can_see(run.name.job) else self._hidden_run(run)

    def _hidden_run(self, run: AssertingRun) -> AssertingRun:
        job = JobName(HIDDEN, self.text("job", node_id(run.name.job)))
        return replace(run, name=RunName(self.text("run", node_id(run.name)), job))

    def mask_event(self, event: AssertingEvent) -> AssertingEvent:
        """An event about a hidden node: its time only."""
        return replace(event, key=self.text("event", event.key), position=None, producer=HIDDEN)
