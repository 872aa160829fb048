"""The adapters against look-alikes that take only the requests that each orchestrator documents."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fixtures.replies import Request, replying
from govern.containment.look_alikes import PASSWORD, USER, AirflowLookAlike
from whence.client.acts.containment import ContainmentPlan, DependentJob
from whence.client.values.graph import Completeness
from whence.errors import ArtifactError, RulesFileError, SourceError
from whence.govern.containment.assignment import NO_ORCHESTRATOR, add_schedules, assign
from whence.govern.containment.orchestrators.port import Orchestrator
from whence.govern.containment.orchestrators_file import (
    OrchestratorRule,
    airflow_at,
    connect,
    read_orchestrators,
)
from whence.govern.containment.steps import Target
from whence.govern.webhook_signatures import read_secret, signed_headers

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
Json = dict[str, Any]
COMPLETE = Completeness(
    complete=True,
    stopped_by=None,
    depth_reached=2,
    frontier=(),
    frontier_nodes=0,
    hidden_nodes=0,
    as_of=None,
    graph_version="0:1",
    forgotten_before=None,
    recorded_from=None,
)


@dataclass
class DagsterLookAlike:
    """A Dagster with one schedule and one sensor. Stopping takes the id of the state, starting takes a selector."""

    status: dict[str, str]
    seen: list[str] = field(default_factory=list)

    def answer(self, request: Request) -> tuple[int, Any]:
        assert (request.method, request.path) == ("POST", "/graphql")
        assert request.headers["dagster-cloud-api-token"] == "s3cret"
        query, variables = request.body["query"], request.body["variables"]
        operation = query.split("(", 1)[0]
        self.seen.append(operation)
        if "selector" in variables:
            kind = "sensor" if "sensorName" in variables["selector"] else "schedule"
            assert sorted(variables["selector"]) == sorted(("repositoryName", "repositoryLocationName", f"{kind}Name"))
            if variables["selector"][f"{kind}Name"] not in ("daily", "arrivals"):
                return 200, {"data": {"found": {"__typename": "ScheduleNotFoundError", "message": "no such"}}}
        else:
            kind = variables["id"].removeprefix("state-of-")
        if operation.startswith("mutation"):
            self.status[kind] = "STOPPED" if "Stop" in operation else "RUNNING"
        state = {"id": f"state-of-{kind}", "status": self.status[kind], "runningCount": 1}
        return 200, {"data": {"found": {"__typename": "Schedule", "state": state}}}


def test_dagster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_TOKEN", "s3cret")
    server = DagsterLookAlike({"schedule": "RUNNING", "sensor": "RUNNING"})
    with replying(server.answer) as url:
        one = connect(OrchestratorRule(name="d", type="dagster", url=url, credentials="DAGSTER"))
        for kind, name in (("schedule", "daily"), ("sensor", "arrivals")):
            target = Target("dagster", "n", f"{kind}:{name}@repo@my.location")
            state = one.read_state(target)
            assert (state.is_paused, state.running) == (False, 1)
            receipt = one.pause(target)
            assert (server.status[kind], one.read_state(target).is_paused) == ("STOPPED", True)
            one.resume(receipt)
            assert server.status[kind] == "RUNNING"
        _refuses(one, "dagster", "schedule:none@repo@here", "ScheduleNotFoundError: no such")
        _refuses(one, "dagster", "daily", "is no id of Dagster")
        one.close()


def test_prefect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_TOKEN", "s3cret")
    paused, acts = {"0b5b": False}, []

    def answer(request: Request) -> tuple[int, Any]:
        assert request.authorization == "Bearer s3cret"
        start, _, rest = request.path.removeprefix("/api/deployments/").partition("/")
        if request.method == "POST":
            assert start == "0b5b"
            acts.append(rest)
            paused[start] = {"pause_deployment": True, "resume_deployment": False}[rest]
            return 204, ""
        if request.path in ("/api/deployments/0b5b", "/api/deployments/name/etl/nightly run"):
            return 200, {"id": "0b5b", "name": "nightly run", "paused": paused["0b5b"]}
        return 404, {"detail": "Deployment not found"}

    with replying(answer) as url:
        one = connect(OrchestratorRule(name="p", type="prefect", url=f"{url}/api", credentials="PREFECT"))
        target = Target("prefect", "n", "etl/nightly run")
        assert one.read_state(target).is_paused is False
        receipt = one.pause(target)
        assert (paused, receipt.detail) == ({"0b5b": True}, {"deployment": "0b5b"})
        one.resume(receipt)
        assert (paused, acts) == ({"0b5b": False}, ["pause_deployment", "resume_deployment"])
        _refuses(one, "prefect", "none", "it has no deployment 'none'")
        one.close()


def test_kubernetes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K8S_TOKEN", "s3cret")
    suspended: dict[str, bool | None] = {"nightly": None}

    def answer(request: Request) -> tuple[int, Any]:
        assert request.authorization == "Bearer s3cret"
        if request.path != "/apis/batch/v1/namespaces/etl/cronjobs/nightly":
            return 404, {"kind": "Status", "reason": "NotFound"}
        if request.method == "PATCH":
            assert request.headers["content-type"] == "application/merge-patch+json"
            assert list(request.body["spec"]) == ["suspend"]
            suspended["nightly"] = request.body["spec"]["suspend"]
        spec = {"schedule": "0 3 * * *"} | ({} if suspended["nightly"] is None else {"suspend": suspended["nightly"]})
        return 200, {"kind": "CronJob", "spec": spec, "status": {"active": [{"name": "nightly-1"}]}}

    with replying(answer) as url:
        one = connect(OrchestratorRule(name="k", type="kubernetes", url=url, credentials="K8S"))
        target = Target("kubernetes", "n", "etl/nightly")
        state = one.read_state(target)
        assert (state.is_paused, state.running) == (False, 1)
        receipt = one.pause(target)
        assert suspended == {"nightly": True}
        one.resume(receipt)
        assert suspended == {"nightly": False}
        _refuses(one, "kubernetes", "etl/none", "it has no CronJob 'etl/none'")
        _refuses(one, "kubernetes", "nightly", "is no id of a CronJob")
        one.close()


def test_a_webhook_is_signed_and_gets_its_receipt_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    seen: list[Json] = []

    def answer(request: Request) -> tuple[int, Any]:
        assert (request.method, request.path, request.query) == ("POST", "/hooks/contain", {"team": "etl"})
        id_, at = request.headers["webhook-id"], int(request.headers["webhook-timestamp"])
        key = read_secret(SECRET)
        assert key is not None
        assert signed_headers(key, id_, at, request.content).items() <= dict(request.headers).items()
        seen.append(request.body)
        if request.body["type"] == "containment.read":
            return 400, {"detail": "unknown type"}
        return 200, {"receipt": {"was": "on"}} if request.body["type"] == "containment.pause" else ""

    target = Target("webhook", "prod.cron", "job:prod.cron:nightly.sh")
    with replying(answer) as url:
        rule = OrchestratorRule(name="h", type="webhook", url=f"{url}/hooks/contain?team=etl", credentials="HOOK")
        one = connect(rule)
        assert one.read_state(target).is_paused is None
        receipt = one.pause(target)
        one.resume(receipt)
    known = {"system": "webhook", "namespace": "prod.cron", "id": target.id}
    assert seen == [
        {"type": "containment.read", "data": known},
        {"type": "containment.pause", "data": known},
        {"type": "containment.resume", "data": {**known, "receipt": {"was": "on"}}},
    ]


def test_credentials_are_in_the_environment_and_no_message_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("USER", USER), ("PASSWORD", PASSWORD)):
        monkeypatch.setenv(f"WHENCE_AIRFLOW_{name}", value)
    monkeypatch.delenv("WHENCE_AIRFLOW_TOKEN", raising=False)
    with replying(AirflowLookAlike({"a": False}).answer) as url:
        rule = airflow_at(url.replace("http://", "http://ada:hush-4711@"))
        assert "hush" not in rule.name
        with pytest.raises(SourceError) as refused:
            connect(rule).read_state(Target("airflow", "n", "b"))
        assert "it has no DAG 'b'" in str(refused.value)
        assert "hush" not in str(refused.value)
    with pytest.raises(ArtifactError):
        airflow_at("ftp://airflow")


def _refuses(one: Orchestrator, system: str, id_: str, reason: str) -> None:
    with pytest.raises(SourceError) as refused:
        one.read_state(Target(system, "n", id_))
    assert reason in str(refused.value)


FILE = """
version: 1
orchestrators:
  - {name: prod, type: airflow, url: "https://airflow.prod", namespaces: ["prod.*"], may_pause: ["orders*"]}
  - {name: any, type: airflow, url: "https://airflow.any"}
  - name: cluster
    type: kubernetes
    url: https://kubernetes
    credentials: K8S
    jobs:
      - {job: "job:prod.cron:*", id: etl/nightly}
  - {name: hook, type: webhook, url: "https://hook", credentials: HOOK, namespaces: ["legacy"]}
"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        file = tmp_path / "orchestrators.yaml"
        file.write_text(text)
        return file

    return write


def test_the_file_says_where_each_schedule_is_paused(written: Callable[[str], Path]) -> None:
    rules = read_orchestrators(written(FILE))
    targets = [
        Target("airflow", "prod.eu", "orders.daily"),
        Target("airflow", "prod.eu", "revenue"),
        Target("airflow", "staging", "revenue"),
        Target("kubernetes", "prod.cron", "etl/nightly"),
        Target("prefect", "legacy", "x"),
        Target("dagster", "prod", "x"),
    ]
    found = assign([(one, False) for one in targets], rules)
    named = [one.rule.name if one.rule else one.reason for one in found]
    assert named == ["prod", "any", "any", "cluster", "hook", NO_ORCHESTRATOR]
    only = assign([(targets[1], False)], rules[:1])
    assert (only[0].rule, only[0].reason) == (None, "prod may not pause it: may_pause")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the file is empty"),
        ("version: 2\norchestrators: []", "this release of Whence reads version 1"),
        ("version: 1\norchestrators: [{name: a, type: cron, url: 'http://x'}]", "choose one of airflow"),
        ("version: 1\norchestrators: [{name: a, type: airflow, url: x}]", "write an address of HTTP"),
        ("version: 1\norchestrators: [{name: a, type: airflow, url: 'http://x', may_puase: []}]", "did you mean"),
        ("version: 1\norchestrators: [{name: a, type: webhook, url: 'http://x'}]", "a webhook is signed"),
    ],
)
def test_a_mistake_in_the_file_has_its_line(written: Callable[[str], Path], text: str, reason: str) -> None:
    with pytest.raises(RulesFileError) as mistake:
        read_orchestrators(written(text))
    assert reason in str(mistake.value)
    assert "orchestrators.yaml:" in str(mistake.value)


def test_jobs_that_report_no_schedule_get_one_from_the_file(written: Callable[[str], Path]) -> None:
    def job(node: str, distance: int) -> DependentJob:
        return DependentJob(
            node=node,
            distance=distance,
            influence="DIRECT",
            path=("dataset:db:raw", node),
            owners=(),
            schedules=(),
            reason="no run of it is known",
            outermost=node,
            last_run=None,
        )

    jobs = (job("job:prod.cron:a.sh", 2), job("job:prod.cron:b.sh", 1), job("job:legacy:c", 1), job("job:other:d", 1))
    plan = ContainmentPlan(
        node="dataset:db:raw",
        grain="dataset",
        schedules=(),
        uncertain=(),
        hidden=0,
        completeness=COMPLETE,
        jobs=jobs,
    )
    found = add_schedules(plan, read_orchestrators(written(FILE)))
    assert [(one.system, one.id, one.distance, one.jobs) for one in found.schedules] == [
        ("kubernetes", "etl/nightly", 1, ("job:prod.cron:a.sh", "job:prod.cron:b.sh")),
        ("webhook", "job:legacy:c", 1, ("job:legacy:c",)),
    ]
    assert [(one.reason, len(one.schedules)) for one in found.jobs] == [
        (None, 1),
        (None, 1),
        (None, 1),
        ("no run of it is known", 0),
    ]
    assert add_schedules(plan, ()) == plan
