"""`orchestrators.yaml`: where schedules are paused, which of them may be, and what starts jobs that do not report it.

Credentials are never in the file: it names environment variables.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from whence.capture.airflow.rest_api import CREDENTIALS
from whence.capture.airflow.rest_api import authorize as airflow_login
from whence.capture.polling.http_source import HttpSource, basic_login, require_url
from whence.errors import ArtifactError, RulesFileError
from whence.govern.containment.orchestrators.airflow import Airflow
from whence.govern.containment.orchestrators.dagster import Dagster
from whence.govern.containment.orchestrators.kubernetes import Kubernetes
from whence.govern.containment.orchestrators.port import Orchestrator
from whence.govern.containment.orchestrators.prefect import Prefect
from whence.govern.containment.orchestrators.webhook import Webhook
from whence.govern.yaml_nodes import Node, parse, read_members, read_version
from whence.model.access import matches_pattern

ALL = ("*",)
TYPES = ("airflow", "dagster", "prefect", "kubernetes", "webhook")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRule:
    """What starts jobs: those whose node id matches a pattern are started by `id`."""

    job: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OrchestratorRule:
    """An orchestrator. `namespaces`: of the jobs that it starts; `may_pause`: patterns of ids; `jobs`: what starts jobs
    that do not report it. `credentials`: how the names of the environment variables begin.
    """

    name: str
    type: str
    url: str
    namespaces: tuple[str, ...] = ALL
    may_pause: tuple[str, ...] = ALL
    credentials: str = ""
    jobs: tuple[JobRule, ...] = ()

    def starts_in(self, namespace: str) -> bool:
        """Whether it starts jobs of a namespace."""
        return any(matches_pattern(one, namespace) for one in self.namespaces)

    def is_allowed(self, id_: str) -> bool:
        """Whether something may be paused."""
        return any(matches_pattern(one, id_) for one in self.may_pause)


def read_orchestrators(file: Path) -> Sequence[OrchestratorRule]:
    """The orchestrators in a file. Raises ArtifactError, RulesFileError."""
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArtifactError(str(file), f"cannot be read: {error}") from None
    root = parse(text, str(file))
    if root is None:
        raise RulesFileError(f"{file}:1", "the file is empty")
    readers = {"version": read_version, "orchestrators": lambda one: tuple(map(_read_one, one.list()))}
    found: Sequence[OrchestratorRule] = read_members(root, readers, ("version", "orchestrators"))["orchestrators"]
    return found


def airflow_at(url: str) -> OrchestratorRule:
    """The Airflow at an address, for all namespaces. Raises ArtifactError."""
    address = _checked_url(url)
    return OrchestratorRule(name=address, type="airflow", url=address)


def connect(rule: OrchestratorRule) -> Orchestrator:
    """The orchestrator of a rule; nothing is sent yet."""
    match rule.type:
        case "airflow":
            login, basic = partial(_airflow, rule.credentials), partial(_basic, rule.credentials)
            return Airflow(name=rule.name, url=rule.url, token=login, basic=basic)
        case "dagster":
            header = partial(_token, rule.credentials, "Dagster-Cloud-Api-Token", "")
            return Dagster(name=rule.name, url=rule.url, authorize=header)
        case "prefect":
            return Prefect(name=rule.name, url=rule.url, authorize=partial(_bearer_or_basic, rule.credentials))
        case "kubernetes":
            bearer = partial(_token, rule.credentials, "Authorization", "Bearer ")
            return Kubernetes(name=rule.name, url=rule.url, authorize=bearer)
    return Webhook(name=rule.name, url=rule.url, secret=os.environ.get(f"{rule.credentials}_SECRET", ""))


def _read_one(node: Node) -> OrchestratorRule:
    readers: Mapping[str, Callable[[Node], object]] = {
        "name": Node.filled,
        "type": _read_type,
        "url": _read_url,
        "namespaces": _read_texts,
        "may_pause": _read_texts,
        "credentials": Node.filled,
        "jobs": lambda one: tuple(map(_read_job, one.list())),
    }
    found = read_members(node, readers, ("name", "type", "url"))
    if found["type"] == "webhook" and "credentials" not in found:
        raise node.mistake("a webhook is signed: name the variable with its secret in `credentials`")
    return OrchestratorRule(**found)


def _read_job(node: Node) -> JobRule:
    return JobRule(**read_members(node, {"job": Node.filled, "id": Node.filled}, ("job", "id")))


def _read_type(node: Node) -> str:
    if node.string() not in TYPES:
        raise node.mistake(f"choose one of {', '.join(TYPES)}")
    return node.string()


def _read_url(node: Node) -> str:
    try:
        return require_url(node.filled(), "", "https://airflow.example")
    except ValueError:
        raise node.mistake("write an address of HTTP, such as https://airflow.example") from None


def _read_texts(node: Node) -> tuple[str, ...]:
    return tuple(one.filled() for one in node.list())


def _checked_url(url: str) -> str:
    try:
        return HttpSource(url=require_url(url, "", "http://airflow:8080")).address
    except ValueError:
        raise ArtifactError("--airflow", "write an address of HTTP, such as http://airflow:8080") from None


def _airflow(prefix: str, source: HttpSource) -> Mapping[str, str]:
    return airflow_login(source, _names(prefix))


def _basic(prefix: str, _source: HttpSource) -> Mapping[str, str]:
    return basic_login(*_names(prefix)[1:])


def _names(prefix: str) -> tuple[str, str, str]:
    """The variables with a token, a user and a password; those of the capture of Airflow without a prefix."""
    return (f"{prefix}_TOKEN", f"{prefix}_USER", f"{prefix}_PASSWORD") if prefix else CREDENTIALS


def _token(prefix: str, header: str, before: str, _source: HttpSource) -> Mapping[str, str]:
    token = os.environ.get(f"{prefix}_TOKEN", "") if prefix else ""
    return {header: f"{before}{token}"} if token else {}


def _bearer_or_basic(prefix: str, source: HttpSource) -> Mapping[str, str]:
    header = _token(prefix, "Authorization", "Bearer ", source)
    return header or (_basic(prefix, source) if prefix else {})
