"""The demo from end to end: a real pipeline on Spark, run twice against a real Whence, asked from the store alone.

What the capture and the pipeline send on the way is compared with the code, too: no edge lost, none invented.

The raw columns behind every prediction are compared with `expected.py`, which was written by hand from reading the
pipeline. A column may be there twice, by value and by influence: along a path INDIRECT wins (reference openlineage.md,
1.5), so a raw column is DIRECT if it is reached by DIRECT edges alone, and INDIRECT if it is reached by a path on which
at least one edge is INDIRECT.
"""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from sqlalchemy import select

from demo.expected import IMPACT_OF_LAST_LOGIN, PREDICTIONS, STEPS, Columns, Origins, Variant
from demo.recorder import recording
from demo.sent_events import Event, expected_edges, job_of, runs_of, sent_edges, short_path, split_by_variant
from whence.cli.client import Client
from whence.cli.process.serve import OPEN, plan, running
from whence.demo.call_lists import ENVIRONMENTS, call_list, report
from whence.demo.facts import FACTS_BY_PATH
from whence.demo.governance import show_governance
from whence.demo.pull_request import show_pull_request
from whence.demo.tour import Tour
from whence.model.events import RunState
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers.instants import iso
from whence.query.answers.transformations import directness, in_a_row
from whence.query.answers.values import BOTH, DIRECT, Answer, AnswerEdge, Question, touches
from whence.query.questions.lineage import downstream, upstream
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.schema.tables import facet_body, run
from whence.store.snapshots.graph import open_graph

NAME = 'Zoë\'s "100%20" #1 日次'
"""Of Whence's data directory, which nothing may take apart, escape or cut."""
VARIANTS: tuple[Variant, ...] = ("first", "altered")
STAGES = ("churn_ingest", "churn_clean", "churn_features", "churn_train", "churn_score")
PREDICTED = ("customer_id", "churn_probability", "churn_label")
PIPELINE = JobName("demo", "churn_pipeline")
TRAINING = JobName("demo", "churn_train.models.churn")
PUBLISHED = {call_list(one) for one in ENVIRONMENTS}
FITTED = STEPS["first"]["models/churn"].direct


@dataclass(frozen=True, slots=True)
class Captured:
    """A store after both runs, and the API over it. `ends`: when each run of the pipeline ended, in microseconds.
    `home`: the data directory of Whence, `data` that of the pipeline. `sent`: the events of each run.
    """

    home: Path
    data: Path
    url: str
    store_url: str
    ends: dict[Variant, int]
    sent: Mapping[Variant, list[Event]]

    def dataset(self, path: str) -> DatasetName:
        """A dataset of the pipeline, by its path below the data directory."""
        return DatasetName("file", str(self.data / path))

    def column(self, path: str) -> FieldName:
        """A column of the pipeline, as `expected.py` writes it."""
        dataset, _, column = path.rpartition(".")
        return FieldName(self.dataset(dataset), column)

    def short(self, name: Node) -> str:
        """The inverse of `column`."""
        assert isinstance(name, FieldName)
        return f"{Path(name.dataset.name).relative_to(self.data).as_posix()}.{name.field}"

    def upstream(self, column: str, types: frozenset[str], at: int | None) -> Answer:
        """All that is upstream of a column."""
        with open_graph(self.store_url) as graph:
            return upstream(graph, self.column(column), Question(types=types, at=at))


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Captured]:
    """Whence with everything that both runs of the pipeline said in its store."""
    data = tmp_path_factory.mktemp("pipeline").resolve() / "churn"
    base = tmp_path_factory.mktemp("whence").resolve() / NAME
    base.mkdir()
    store_url = sqlite_url(base / "store.db")
    with running(plan(base, store_url, port=0, guard=OPEN)) as url, recording(url) as recorder:
        command = [sys.executable, "-m", "whence.demo.pipeline", "--data", str(data), "--url", recorder.url]
        command += ["--api-key", "secret", "--run", *VARIANTS]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1_800, check=False)
        assert done.returncode == 0, done.stderr[-4000:]
        assert recorder.paths <= {"/api/v1/lineage", "/api/v1/lineage/batch"}
        assert recorder.authorizations == {"Bearer secret"}
        client = Client(url)
        progress = client.get("/api/v2/progress?wait_for=head&timeout=120").json
        client.close()
        assert progress["reached"], progress
        ends = dict(zip(VARIANTS, _ends_of_runs(store_url, PIPELINE), strict=True))
        yield Captured(base, data, url, store_url, ends, split_by_variant(recorder.events, VARIANTS))


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> Variant:
    """Each variant of the pipeline in turn."""
    variant: Variant = request.param
    return variant


@pytest.fixture
def events(captured: Captured, variant: Variant) -> list[Event]:
    """The events that one run of the pipeline sent."""
    return captured.sent[variant]


def test_the_column_lineage_is_that_of_the_code(captured: Captured, events: list[Event], variant: Variant) -> None:
    found = {edge for event in events for edge in sent_edges(event, captured.data)}
    assert found == expected_edges(variant)


def test_every_run_ends_and_belongs_to_the_pipeline(events: list[Event]) -> None:
    states = {run: {e["eventType"] for e in events if e["run"]["runId"] == run} for run in runs_of(events)}
    assert all({"START", "COMPLETE"} <= seen for seen in states.values())
    parents = {job_of(event): event["run"]["facets"].get("parent") for event in events}
    assert parents.pop("churn_pipeline") is None
    assert {name: parents[name]["job"]["name"] for name in STAGES} == dict.fromkeys(STAGES, "churn_pipeline")
    assert {parent["root"]["job"]["name"] for parent in parents.values()} == {"churn_pipeline"}


def test_each_stage_is_one_application(events: list[Event]) -> None:
    runs = Counter(job for job, _ in {(job_of(event), event["run"]["runId"]) for event in events})
    assert {stage: runs[stage] for stage in STAGES} == dict.fromkeys(STAGES, 1)


def test_nothing_is_declared_that_can_be_captured(events: list[Event]) -> None:
    assert not [event for event in events if "lineage" in event["job"]["facets"]]


def test_training_reads_features_and_writes_a_model(events: list[Event], captured: Captured) -> None:
    (training,) = (e for e in events if job_of(e) == "churn_train.models.churn" and e["eventType"] == "COMPLETE")
    assert [short_path(dataset["name"], captured.data) for dataset in training["inputs"]] == ["gold/features"]
    (model,) = training["outputs"]
    assert short_path(model["name"], captured.data) == "models/churn"
    assert model["facets"]["datasetType"]["datasetType"] == "MODEL"


def test_scoring_reads_features_and_the_model(events: list[Event], captured: Captured) -> None:
    (scoring,) = (e for e in events if job_of(e) == "churn_score.gold.predictions" and e["eventType"] == "COMPLETE")
    assert [short_path(dataset["name"], captured.data) for dataset in scoring["inputs"]] == [
        "gold/features",
        "models/churn",
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_prediction_traces_to_its_raw_columns(captured: Captured, variant: Variant) -> None:
    at = captured.ends["first"] if variant == "first" else None
    wanted = PREDICTIONS[variant]
    found = {column: _origins(captured, f"gold/predictions.{column}", at) for column in PREDICTED}
    assert found == wanted
    assert _precision_and_recall(_triples(found), _triples(wanted)) == (1.0, 1.0)


def test_a_wrong_edge_and_a_lost_edge_would_show() -> None:
    wanted = _triples(PREDICTIONS["first"])
    lost = set(sorted(wanted)[1:])
    assert _precision_and_recall(lost, wanted) == (1.0, len(lost) / len(wanted))
    assert _precision_and_recall(wanted | {("churn_label", "DIRECT", "raw/crm_export.name")}, wanted)[0] < 1


def test_the_current_state_is_that_of_the_last_run(captured: Captured) -> None:
    now = _origins(captured, "gold/predictions.churn_label", None)
    assert now == _origins(captured, "gold/predictions.churn_label", captured.ends["altered"])
    assert now != _origins(captured, "gold/predictions.churn_label", captured.ends["first"])


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_breaks_if_the_last_login_changes(captured: Captured, variant: Variant) -> None:
    root = captured.column("raw/usage_logs.last_login")
    with open_graph(captured.store_url) as graph:
        answer = downstream(graph, root, Question(at=captured.ends[variant]))
    reached = {one.name for one in answer.nodes if isinstance(one.name, FieldName)}
    published = {one for one in reached if one.dataset in PUBLISHED | {report(captured.data)}}
    assert {captured.short(one) for one in reached - published} - {captured.short(root)} == IMPACT_OF_LAST_LOGIN
    # The scores of the first run were published after it, and those of the second were not.
    calls = {FieldName(one, "churn_probability") for one in PUBLISHED} if variant == "altered" else set()
    assert {one for one in published if one.dataset in PUBLISHED} == calls
    # Plans show all, also that `lit(…).alias("ingested_on")` comes from no column; no number depends on a check.
    assert answer.gaps == ()
    assert answer.completeness.complete


def test_training_is_a_job_from_feature_columns_to_a_model(captured: Captured) -> None:
    model = captured.dataset("models/churn")
    with open_graph(captured.store_url) as graph:
        fields = {one: upstream(graph, captured.column(f"models/churn.{one}"), Question(depth=1)) for one in FITTED}
        reads = upstream(graph, TRAINING, Question(depth=1))
        writes = downstream(graph, TRAINING, Question(depth=1))
    for name, answer in fields.items():
        assert {edge.owner for edge in answer.edges} == {TRAINING}
        assert {captured.short(edge.source) for edge in answer.edges} == FITTED[name]
    assert captured.dataset("gold/features") in {one.name for one in reads.nodes}
    assert model in {one.name for one in writes.nodes}
    assert '"datasetType":"MODEL"' in _facet(captured.store_url, model, "datasetType").replace(" ", "")


def test_every_edge_proves_itself(captured: Captured) -> None:
    answer = captured.upstream("gold/predictions.churn_probability", BOTH, None)
    assert answer.completeness.complete
    assert all(edge.confirmed and edge.evidence for edge in answer.edges)
    runs = [run for edge in answer.edges for one in edge.evidence for run in one.runs]
    assert {run.state for run in runs} == {RunState.COMPLETE}


@pytest.mark.parametrize("since", ["24h", "the first run"])
@pytest.mark.parametrize("node", ["gold/predictions", "gold/predictions.churn_probability"])
def test_the_altered_join_is_among_the_first_three_causes(captured: Captured, node: str, since: str) -> None:
    asked = captured.column(node) if "." in node else captured.dataset(node)
    begin = iso(captured.ends["first"]) if since == "the first run" else since
    causes = _asked(captured, f"diagnose?{urlencode({'node': str(asked), 'since': begin})}")["causes"]
    features = str(captured.dataset("gold/features"))
    assert features in [one["node"] for one in causes[:3]]
    (found,) = (one for one in causes if one["node"] == features)
    (change,) = {fact["kind"]: fact["text"] for fact in found["evidence"]}.items()
    assert change[0] == "lineage"
    assert "silver/tickets.priority was added" in change[1] or "silver/tickets.opened_at was added" in change[1]


def test_the_boards_show_the_one_failure_that_there_is(captured: Captured) -> None:
    troubles = _asked(captured, "troubles")
    assert [(one["job"], one["trouble"]) for one in troubles["jobs"]] == [
        ("job:crm-staging:publish_call_list", "failing")
    ]
    (failing,) = troubles["jobs"]
    assert failing["last"]["error"].endswith("of 400 customers have no score")
    assert failing["last_good"]["state"] == "COMPLETE"
    checks = [one for row in _asked(captured, "failed-checks") for one in row["failed"]]
    assert {(one["assertion"], one["severity"]) for one in checks} == {
        ("every_customer", "error"),
        ("unique", "warn"),
        ("not_negative", "warn"),
    }


def test_owners_state_facts_about_every_dataset_that_they_know(captured: Captured) -> None:
    for path, facts in FACTS_BY_PATH.items():
        name = quote(captured.dataset(path).name, safe="")
        found = _asked(captured, f"datasets/file/{name}")
        assert [one["name"] for one in found["owners"]] == [facts.owner]
        assert found["description"] == facts.description
        pii = {tag["field"] for tag in found["tags"] if tag["key"] == "PII"}
        assert pii == set(facts.pii)
        assert pii <= {field["name"] for field in found["fields"]}


def _asked(captured: Captured, question: str) -> Any:
    client = Client(captured.url)
    answer = client.get(f"/api/v2/{question}").json["data"]
    client.close()
    return answer


def _origins(captured: Captured, column: str, at: int | None) -> Origins:
    direct = captured.upstream(column, DIRECT, at)
    assert direct.completeness.complete
    raw = {name for one in direct.nodes if (name := captured.short(one.name)).startswith("raw/")}
    return Origins(frozenset(raw), _influences(captured, captured.upstream(column, BOTH, at)))


def _influences(captured: Captured, answer: Answer) -> Columns:
    """The raw columns at the far end of a path whose transformations, in a row, are INDIRECT."""
    assert answer.completeness.complete
    reached: set[tuple[Node, bool]] = set()
    waiting: list[tuple[Node, bool]] = [(answer.root, False)]
    while waiting:
        node, indirect = waiting.pop()
        if (node, indirect) in reached:
            continue
        reached.add((node, indirect))
        for edge in answer.edges:
            if touches(node, edge.target):
                waiting += [(edge.source, indirect or by_influence) for by_influence in _kinds(edge)]
    shorts = {captured.short(node) for node, indirect in reached if indirect}
    return frozenset(name for name in shorts if name.startswith("raw/"))


def _kinds(edge: AnswerEdge) -> set[bool]:
    """Whether an edge, of which there may be several side by side, is influence: both may be so."""
    assert all(in_a_row(one, one).type == one.type for one in edge.transformations)
    return {directness(one.type) == directness("INDIRECT") for one in edge.transformations}


def _triples(origins: dict[str, Origins]) -> set[tuple[str, str, str]]:
    direct = {(column, "DIRECT", raw) for column, of in origins.items() for raw in of.direct}
    return direct | {(column, "INDIRECT", raw) for column, of in origins.items() for raw in of.indirect}


def _precision_and_recall(found: set[tuple[str, str, str]], wanted: set[tuple[str, str, str]]) -> tuple[float, float]:
    right = len(found & wanted)
    return right / len(found), right / len(wanted)


def _ends_of_runs(store_url: str, job: JobName) -> list[int]:
    """When each completed run of a job ended, the first first."""
    engine = open_store(store_url)
    ended = select(run.c.state_at).where(run.c.job_id == node_id(job), run.c.state == RunState.COMPLETE.value)
    with engine.connect() as connection:
        ends = list(connection.execute(ended.order_by(run.c.state_at)).scalars())
    engine.dispose()
    return ends


def _facet(store_url: str, subject: DatasetName, name: str) -> str:
    """The text of a dataset's facet."""
    engine = open_store(store_url)
    wanted = select(facet_body.c.payload).where(facet_body.c.subject_id == node_id(subject), facet_body.c.name == name)
    with engine.connect() as connection:
        payload = connection.execute(wanted).scalar_one()
    engine.dispose()
    return str(payload)


def test_a_pull_request_on_the_call_list_is_blocked_because_of_the_report(captured: Captured, tmp_path: Path) -> None:
    printed: list[str] = []
    judged = show_pull_request(tmp_path / "pull-request", captured.store_url, printed.append)
    assert printed[-1] == "exit code 5: blocked"
    assert report(captured.data) in {hit.subject for hit in judged.summary.leading}


def test_personal_data_is_followed_blocked_reported_and_proven(captured: Captured, tmp_path: Path) -> None:
    printed: list[str] = []
    show_governance(Tour(data=captured.home, folder=tmp_path / "governance", say=printed.append), captured.url)
    shown = "\n".join(printed)
    assert re.search(r"full +predictions\.customer_id +pii", shown)
    assert re.search(r"features\.monthly_charges  pii full.*\n +← crm_export\.monthly_charges", shown)
    assert re.search(r"pseudonymous +customers\.email_hash +pii", shown)
    assert "blocked  main.mailing.customer_id  policy  sql/mailing.sql:2" in shown
    blocking = "not evaluated  churn  no personal data in models  blocks: a certified dataset is made of it"
    assert re.search(f"{blocking}\n.*\n +a step on the way was not read", shown)
    assert shown.count("exit code 5") == 2
    assert re.search(r"1\. full +raw/crm_export  kept 2 years", shown)
    assert re.search(r"customers  no retention set, its sources 730 days", shown)
    assert "customer_id" in (tmp_path / "governance" / "data-subject.md").read_text("utf-8")
    assert "\nverified: signed by the key" in shown
    assert "Verified: 18 files, signed by the key" in shown
    assert "not verified: lineage.json was changed" in shown
    column = captured.column("silver/customers.email_hash")
    assert urlencode({"node": str(column.dataset), "col": str(column)}) in shown
