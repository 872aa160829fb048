"""Certification and quality scores in answers: values, and the questions about them."""

from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from whence.client.connection import Connection
from whence.client.options import Time, iso_text

_AT_ONCE = 200
Value = TypeVar("Value")


class CertificationRequirement(msgspec.Struct, frozen=True, kw_only=True):
    """A requirement with its outcome (`met`, `not met` or `not evaluated`), and what that follows from."""

    requirement: str
    outcome: str
    text: str
    names: tuple[str, ...]
    columns: tuple[str, ...]


class CertificationRule(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule makes of a dataset. `owner`: whom to ask about the rule."""

    rule: str
    reason: str | None
    owner: str | None
    requirements: tuple[CertificationRequirement, ...]


class Certification(msgspec.Struct, frozen=True, kw_only=True):
    """The certification of a dataset: `certified`, `not certified`, `not evaluated`, or `no rule`. `tagged`: somebody
    tagged it `certified` by hand; `canonical`: it is tagged as the one to prefer.
    """

    node: str
    status: str
    tagged: bool
    canonical: bool
    rules: tuple[CertificationRule, ...]


class Certifications(msgspec.Struct, frozen=True, kw_only=True):
    """The certification of the datasets that have a rule, at a time."""

    at: str
    datasets: tuple[Certification, ...]


class DeclaredRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that holds in a namespace. `text`: JSON of the form of `certification.yaml`."""

    namespace: str
    name: str
    version: str
    text: str
    declared_at: str
    declared_by: str


class QualityScore(msgspec.Struct, frozen=True, kw_only=True):
    """The quality of a dataset at a time, from 0 to 1: the weakest part of what is known of it and of all datasets that
    its values are made of; None if nothing is known. `exact`: false if something not known could make it lower.

    `own`: of the dataset alone. `limited_by`: the dataset whose `part` is the weakest; None if this key may not see it.
    `unknown`: the nearest of the `unknown_datasets`, of the `datasets`, of which nothing is known.
    """

    at: str
    node: str
    score: float | None
    exact: bool
    own: float | None
    limited_by: str | None
    part: str | None
    unknown: tuple[str, ...]
    unknown_datasets: int
    datasets: int
    complete: bool


class QualityScoreAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer about the quality of a dataset."""

    data: QualityScore


class CertificationAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer about one dataset."""

    data: Certification


class CertificationsPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of datasets."""

    data: Certifications
    page: dict[str, Any] | None


class RulesAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The rules."""

    data: tuple[DeclaredRule, ...]


class CertificationQuestions:
    """The questions about certification, for a client of a server."""

    _connection: Connection

    def _converted(self, value: Any, type_: type[Value]) -> Value:
        raise NotImplementedError

    def certification(self, dataset: str, *, as_of: Time | None = None) -> Certification:
        """The certification of a dataset at a time, with each requirement of each rule that applies to it."""
        path = f"/api/v2/nodes/{quote(dataset, safe='')}/certification"
        return self._converted(self._connection.get(path, {"as_of": iso_text(as_of)}), CertificationAnswer).data

    def certifications(self, *, namespace: str = "", status: str = "", as_of: Time | None = None) -> Certifications:
        """The certification of all datasets that have a rule: in one namespace, or with one status, if wanted."""
        query: Mapping[str, Any] = {"namespace": namespace, "status": status or None, "limit": _AT_ONCE}
        found: list[Certification] = []
        time, cursor = iso_text(as_of), None
        while True:
            document = self._connection.get("/api/v2/certifications", {**query, "as_of": time, "cursor": cursor})
            page = self._converted(document, CertificationsPage)
            found += page.data.datasets
            cursor = (page.page or {}).get("next")
            if not cursor:
                return msgspec.structs.replace(page.data, datasets=tuple(found))

    def quality_score(self, dataset: str, *, as_of: Time | None = None) -> QualityScore:
        """The quality score of a dataset at a time, and the dataset upstream that limits it."""
        path = f"/api/v2/nodes/{quote(dataset, safe='')}/quality-score"
        return self._converted(self._connection.get(path, {"as_of": iso_text(as_of)}), QualityScoreAnswer).data

    def certification_rules(self) -> tuple[DeclaredRule, ...]:
        """The rules that hold now, by namespace and name."""
        return self._converted(self._connection.get("/api/v2/certification-rules", {}), RulesAnswer).data
