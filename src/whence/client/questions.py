"""The client: one method for each question, which sends a request to the API and returns a typed answer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, Unpack
from urllib.parse import quote

import msgspec

from whence.client.acts.breakers import IncidentQuestions
from whence.client.acts.certification import CertificationQuestions
from whence.client.acts.containment import ContainmentPlan, RerunPlan, RollbackPoint
from whence.client.acts.expirations import ExpirationQuestions
from whence.client.acts.lineage_baselines import LineageBaselineQuestions
from whence.client.acts.policies import PolicyQuestions
from whence.client.acts.reports import ReportQuestions
from whence.client.acts.slos import SloQuestions
from whence.client.acts.twins import TwinQuestions
from whence.client.answers.answer import Answer
from whence.client.answers.diagnosis import RootCauses
from whence.client.answers.graph import Impact, Lineage, Paths, WhyNot
from whence.client.answers.history import ChangesUpstream, DatasetVersions, Diff, History, RunLineage
from whence.client.answers.quality import CheckResults, Measurements
from whence.client.answers.search import Found
from whence.client.answers.sensitivity import Sensitivity, SubjectData
from whence.client.connection import Connection, refused_key
from whence.client.options import Bounds, EvidenceWalk, Narrowing, Reach, Rerun, Time, Walk, iso_text, parameters_of
from whence.client.pages import Envelope, read_all
from whence.client.profiles import choose_server
from whence.client.values.access import CurrentUser, SignedIn
from whence.client.values.catalog import DatasetEntry, FactsPage, JobsPage, KnownField, KnownJob, NodeFacts
from whence.client.values.contracts import ContractAnswer, ContractedDataset, ContractHistory, ContractPage
from whence.client.values.gate_records import (
    Approval,
    ApprovalsPage,
    RecordedWaiver,
    WaiversPage,
    WrittenPage,
    verdict_path,
    waiver_path,
)
from whence.client.values.graph import BlastRadius
from whence.client.values.quality import CheckedDataset, ChecksPage
from whence.client.values.sensitivity import (
    MOST_FINDINGS,
    PolicyAnswer,
    PolicyEvaluation,
    PolicyOptions,
    Proposal,
    SensitivityOptions,
    SubjectOptions,
)
from whence.errors import ServerVersionError

AnyAnswer = TypeVar("AnyAnswer", bound=Answer)
Value = TypeVar("Value")
AnyPage = TypeVar("AnyPage", JobsPage, WaiversPage, ContractPage)

_FACTS_AT_ONCE = 50
"""Nodes in one request: their names are in its address."""
_CHECKS_AT_ONCE, _ROWS_AT_ONCE = 20, 1_000


class Client(
    CertificationQuestions,
    ExpirationQuestions,
    IncidentQuestions,
    LineageBaselineQuestions,
    PolicyQuestions,
    ReportQuestions,
    SloQuestions,
    TwinQuestions,
):
    """A client of one server, and a context manager. Thread-safe.

    Each question raises NodeNotFoundError (with the nearest names), AmbiguousNodeError (with all candidates),
    QuestionError (a parameter is rejected), AccessError (the key is rejected) and ApiError (the server does not
    respond, or has another version).
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def url(self) -> str:
        """The server's address."""
        return self._connection.url

    def upstream(self, node: str, **walk: Unpack[Walk]) -> Lineage:
        """The nodes upstream of a dataset, field or job. `node`: a node id, or the end of a name (`orders.total`)."""
        return self._read("/lineage/upstream", {"node": node, **parameters_of(walk)}, Lineage, "nodes")

    def downstream(self, node: str, **walk: Unpack[Walk]) -> Lineage:
        """The nodes downstream of a dataset, field or job."""
        return self._read("/lineage/downstream", {"node": node, **parameters_of(walk)}, Lineage, "nodes")

    def impact(self, node: str, *, limit: int | None = None, **walk: Unpack[Walk]) -> Impact:
        """The nodes that a change affects: counts of all, and the first `limit` nodes with a path to each."""
        return self._read("/impact", {"node": node, **parameters_of(walk)}, Impact, "nodes", limit)

    def paths(
        self, source: str, target: str, *, limit: int = 20, depth: int | None = None, **bounds: Unpack[Bounds]
    ) -> Paths:
        """The paths from one node to another: at most `limit`, the shortest first."""
        parameters = {"source": source, "target": target, "paths": limit, "depth": depth}
        return self._read("/paths", parameters | parameters_of(bounds), Paths, "paths")

    def why(self, source: str, target: str, *, limit: int = 5, **bounds: Unpack[Bounds]) -> Paths:
        """The same paths, every edge with all its evidence: events and runs."""
        parameters = {"source": source, "target": target, "paths": limit}
        return self._read("/why", parameters | parameters_of(bounds), Paths, "paths")

    def why_not(self, source: str, target: str, **bounds: Unpack[Bounds]) -> WhyNot:
        """Why no path leads from one node to another."""
        return self._read("/why-not", {"source": source, "target": target} | parameters_of(bounds), WhyNot)

    def containment(self, node: str, **bounds: Unpack[Reach]) -> ContainmentPlan:
        """What to pause so that a broken node goes no further. Nothing is paused by asking."""
        return self._read("/containment", {"node": node, **parameters_of(bounds)}, ContainmentPlan, "jobs")

    def rerun(self, node: str, **options: Unpack[Rerun]) -> RerunPlan:
        """What to run again after a fix of a node, in layers."""
        return self._read("/rerun", {"node": node, **parameters_of(options)}, RerunPlan, "jobs")

    def rollback(self, node: str, *, since: Time) -> RollbackPoint:
        """The newest run before data broke that can be trusted, and the runs that it rests on."""
        return self._read("/rollback", {"node": node, "since": iso_text(since)}, RollbackPoint)

    def history(self, node: str) -> History:
        """The changes of a node's lineage and schema, each with its time, and its run or event."""
        return self._read("/history", {"node": node}, History, "versions")

    def diff(self, before: Time, after: Time = "now") -> Diff:
        """The differences between two times, or between two runs (`run:…`)."""
        return self._read("/diff", {"before": iso_text(before), "after": iso_text(after)}, Diff, "changes")

    def runs(self, run: str, *, down: bool = False, depth: int | None = None, max_runs: int = 1_000) -> RunLineage:
        """The runs that wrote a run's inputs, and so on; `down`: the runs that read its outputs.

        `run`: its id, `<id>@<job>` if several jobs claim it, or a job, for its latest run.
        """
        parameters = {"direction": "downstream" if down else "upstream", "depth": depth, "max_runs": max_runs}
        return self._read(f"/runs/{quote(run, safe='')}/lineage", parameters, RunLineage, "runs")

    def measurements(
        self, node: str, *, metrics: Sequence[str] = (), as_of: Time | None = None, limit: int | None = None
    ) -> Measurements:
        """What was measured of a dataset, a column or the runs of a job: the newest `limit`, or all that are read."""
        parameters = {"node": node, "metric": list(metrics), "as_of": iso_text(as_of)}
        return self._read("/measurements", parameters, Measurements, "measurements", limit)

    def check_results(self, node: str, *, as_of: Time | None = None, limit: int | None = None) -> CheckResults:
        """What checks found of a dataset or a column: the newest `limit`, or all that are read."""
        return self._read("/check-results", {"node": node, "as_of": iso_text(as_of)}, CheckResults, "checks", limit)

    def versions(self, node: str, *, limit: int | None = None) -> DatasetVersions:
        """The versions of a dataset that its table and its runs reported: the newest `limit`, or all that are known."""
        return self._read("/versions", {"node": node}, DatasetVersions, "versions", limit)

    def changes(
        self,
        node: str,
        *,
        since: Time = "24h",
        until: Time | None = None,
        limit: int | None = None,
        max_changes: int = 1_000,
        **bounds: Unpack[Bounds],
    ) -> ChangesUpstream:
        """What changed at a node and upstream of it in a period: the newest `limit`, or all up to `max_changes`.

        `since`: a time, or how long before `until`: `24h`, `7d`.
        """
        period = {"since": iso_text(since), "until": iso_text(until), "max_changes": max_changes}
        parameters = {"node": node, **period, **parameters_of(bounds)}
        return self._read("/changes", parameters, ChangesUpstream, "changes", limit)

    def sensitivity(self, node: str, *, limit: int | None = None, **options: Unpack[SensitivityOptions]) -> Sensitivity:
        """The sensitive data in a dataset or column; `down`: where its own data goes. The first `limit`, or all."""
        way = "downstream" if options.pop("down", False) else "upstream"
        parameters = {"node": node, "direction": way, **parameters_of(options)}
        return self._read("/sensitivity", parameters, Sensitivity, "labels", limit)

    def subject(
        self, node: str | None = None, *, limit: int | None = None, **options: Unpack[SubjectOptions]
    ) -> SubjectData:
        """Where the data of a person is: from a dataset or column on, or from all that tags mark. The first `limit`
        datasets in the order in which to erase them, or all.
        """
        parameters = {**({"node": node} if node else {}), **parameters_of(options)}
        return self._read("/subject", parameters, SubjectData, "places", limit)

    def diagnose(
        self,
        node: str,
        *,
        since: Time = "24h",
        until: Time | None = None,
        symptom: str | None = None,
        limit: int | None = None,
        **bounds: Unpack[Bounds],
    ) -> RootCauses:
        """The possible causes of what is wrong at a dataset or column, the most probable first: the first `limit`, or
        all.

        `since`: when it began, or how long before `until`: `24h`, `7d`. `symptom`: nulls, volume, late or values; what
        deviates most at the node if not given.
        """
        period = {"since": iso_text(since), "until": iso_text(until), "symptom": symptom}
        parameters = {"node": node, **period, **parameters_of(bounds)}
        return self._read("/diagnose", parameters, RootCauses, "causes", limit)

    def search(self, text: str, *, limit: int = 50, **narrowing: Unpack[Narrowing]) -> Found:
        """Search datasets, fields and jobs by the words of their names, tags, owners and descriptions."""
        return self._read("/search", {"q": text, "names": limit, **parameters_of(narrowing)}, Found, "nodes")

    def blast_radius(self, node: str) -> BlastRadius | None:
        """The latest blast radius of a node, or None if it was not computed yet."""
        radius = self._page("/api/v2/blast", {"node": node}).data.get("radius")
        return None if radius is None else self._converted(radius, BlastRadius)

    def facts(self, nodes: Sequence[str]) -> tuple[NodeFacts, ...]:
        """What is asserted of datasets and jobs: owners, tier, certification, contract. Unknown ones are left out."""
        pages = (nodes[start : start + _FACTS_AT_ONCE] for start in range(0, len(nodes), _FACTS_AT_ONCE))
        answers = (self._connection.get("/api/v2/facts", {"node": list(page)}) for page in pages)
        return tuple(one for page in answers for one in self._converted(page, FactsPage).data)

    def fields(self, namespace: str, name: str) -> tuple[str, ...]:
        """The names of the columns in the schema of a dataset; empty if none is known. Raises NodeNotFoundError."""
        return tuple(one.name for one in self.schema(namespace, name))

    def schema(self, namespace: str, name: str) -> tuple[KnownField, ...]:
        """The columns in the schema of a dataset, with their types. Raises NodeNotFoundError."""
        path = f"/api/v2/datasets/{quote(namespace, safe='')}/{quote(name, safe='')}"
        entry = self._converted(self._connection.get(path, {}), DatasetEntry)
        return entry.data.fields

    def checks(self, datasets: Sequence[str]) -> tuple[CheckedDataset, ...]:
        """The known checks of datasets, by dataset and job. Raises AccessError without access to all namespaces."""
        pages = (datasets[start : start + _CHECKS_AT_ONCE] for start in range(0, len(datasets), _CHECKS_AT_ONCE))
        answers = (self._connection.get("/api/v2/checks", {"node": list(page)}) for page in pages)
        return tuple(one for page in answers for one in self._converted(page, ChecksPage).data)

    def jobs(self) -> Iterator[KnownJob]:
        """Every job, by name."""
        return self._rows("/api/v2/jobs", {}, JobsPage)

    def approvals(self, repository: str, commit: str) -> tuple[Approval, ...]:
        """Who approved a commit of a repository (`github.com/shop/pipeline`)."""
        found = self._connection.get(f"{verdict_path(repository, commit)}/approvals", {})
        return self._converted(found, ApprovalsPage).data

    def waivers(self, repository: str) -> tuple[RecordedWaiver, ...]:
        """The recorded waivers of a repository, expired ones among them."""
        return tuple(self._rows("/api/v2/gate/waivers", {"repository": repository}, WaiversPage))

    def record_verdict(self, repository: str, commit: str, verdict: Mapping[str, Any]) -> bool:
        """Record the verdict of a gate, as `whence gate --output json` writes it; whether it differs from the last."""
        written = self._connection.put(verdict_path(repository, commit), verdict)
        return self._converted(written, WrittenPage).data.transition

    def approve(self, repository: str, commit: str, *, withdraw: bool = False) -> tuple[Approval, ...]:
        """Approve a commit that has a verdict, in the name of the key, or withdraw that. All approvals of it."""
        path = f"{verdict_path(repository, commit)}/approval"
        answer = self._connection.delete(path) if withdraw else self._connection.put(path, None)
        return self._converted(answer, ApprovalsPage).data

    def waive(self, repository: str, change: str, *, reason: str, expires: str) -> None:
        """Let a change pass until the end of a day (`2027-01-31`, UTC), as the owner of the key."""
        self._connection.put(waiver_path(repository, change), {"reason": reason, "expires": expires})

    def end_waiver(self, repository: str, change: str) -> None:
        """End the waiver of a change."""
        self._connection.delete(waiver_path(repository, change))

    def record_promotion(self, node: str, promotion: Mapping[str, Any]) -> bool:
        """Record the verdict on a promotion, as `whence gate model NAME --output json` writes it; whether it is new."""
        written = self._connection.put(f"/api/v2/gate/promotions/{quote(node, safe='')}", promotion)
        return self._converted(written, WrittenPage).data.transition

    def contracts(self) -> Iterator[ContractedDataset]:
        """The contracts of all datasets, by dataset."""
        return self._rows("/api/v2/contracts", {}, ContractPage)

    def contract(self, dataset: str, *, as_of: Time | None = None, transitions: bool = False) -> ContractHistory:
        """The contract of a dataset (its node id) at a time, with its text; and all its versions.

        `transitions`: also when rules began and ceased to be violated.
        """
        path = f"/api/v2/nodes/{quote(dataset, safe='')}/contract"
        options = {"as_of": iso_text(as_of), "transitions": "true" if transitions else None}
        return self._converted(self._connection.get(path, options), ContractAnswer).data

    def evaluate_policies(
        self, policies: str, *, proposal: Proposal | None = None, **options: Unpack[PolicyOptions]
    ) -> PolicyEvaluation:
        """Of which nodes the policies in a text do not hold, or may not. Raises QuestionError for a mistake in it. The
        text may be empty if `declared` is true.

        With a proposal: of which nodes they would not hold, and do hold now.
        """
        given = {**options, "as_of": iso_text(options.get("as_of")), "proposal": msgspec.to_builtins(proposal)}
        document = {"policies": policies, "limit": MOST_FINDINGS, **given}
        answer = self._connection.post("/api/v2/policies/evaluation", document)
        return self._converted(answer, PolicyAnswer).data

    def evidence(self, node: str, *, as_of: Time | None = None, **walk: Unpack[EvidenceWalk]) -> bytes:
        """The evidence pack of a node, as a ZIP file: its lineage at a time (now), with the events that prove it."""
        parameters = {"node": node, "as_of": iso_text(as_of), **parameters_of(walk)}
        return self._connection.get_bytes("/api/v2/evidence", parameters)

    def whoami(self) -> CurrentUser | None:
        """The current user, or None if the server runs open, without keys."""
        signed_in = self._converted(self._connection.get("/api/v2/session/ways", {}), SignedIn)
        if signed_in.me is None and not signed_in.open:
            raise refused_key(self.url, has_key=self._connection.has_key)
        return None if signed_in.open else signed_in.me

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<whence.Client of {self.url}>"

    def _read(
        self,
        path: str,
        parameters: Mapping[str, Any],
        answer: type[AnyAnswer],
        rows: str | None = None,
        limit: int | None = None,
    ) -> AnyAnswer:
        whole = f"/api/v2{path}"
        if rows is not None:
            return self._converted(read_all(self._page, whole, parameters, rows, limit), answer)
        page = self._page(whole, parameters)
        return self._converted({**page.data, "completeness": page.completeness}, answer)

    def _rows(self, path: str, parameters: Mapping[str, Any], page_type: type[AnyPage]) -> Iterator[Any]:
        """The rows of all pages of a list."""
        cursor: str | None = None
        while True:
            found = self._connection.get(path, {**parameters, "limit": _ROWS_AT_ONCE, "cursor": cursor})
            page = self._converted(found, page_type)
            yield from page.data
            cursor = (page.page or {}).get("next")
            if not cursor:
                return

    def _page(self, path: str, parameters: Mapping[str, Any]) -> Envelope:
        return self._converted(self._connection.get(path, parameters), Envelope)

    def _converted(self, value: Any, type_: type[Value]) -> Value:
        try:
            return msgspec.convert(value, type_)
        except msgspec.ValidationError as error:
            raise ServerVersionError(self.url, f"its answer has another form: {error}") from None


def connect(
    url: str | None = None, key: str | None = None, *, profile: str | None = None, timeout: float = 120
) -> Client:
    """Create a client of the server at `url`, or of a profile that `whence login` wrote.

    Missing values come from WHENCE_URL, WHENCE_API_KEY and WHENCE_PROFILE, then from the profile `default`. `timeout`:
    seconds to wait for an answer. Raises ProfileError if no server is named, ApiError if `url` is malformed.
    """
    server = choose_server(url, key, profile)
    return Client(Connection(server.url, server.key, timeout=timeout))
