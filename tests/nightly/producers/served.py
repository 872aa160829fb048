"""A Whence that runs as `whence up` runs it, with keys, and what its users read over HTTP and at the terminal."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import httpx

from whence.cli.process.serve import Guard, plan, running
from whence.cli.settings import security_db
from whence.store.connection.engine import sqlite_url

PATIENCE_SECONDS = 300

Json = dict[str, Any]


class Flow(NamedTuple):
    """An edge of an answer. Ends are `dataset.column` or `dataset`, named as the test names them."""

    source: str
    how: str  # TYPE SUBTYPE
    target: str


@dataclass(frozen=True, slots=True)
class Lineage:
    """What is answered about a dataset and each of its columns: confirmed flows, others, and where it is incomplete."""

    flows: frozenset[Flow]
    unconfirmed: frozenset[Flow]
    gaps: frozenset[str]
    columns: frozenset[str]
    jobs: frozenset[str]


@dataclass(frozen=True, slots=True)
class User:
    """Somebody with a key, who asks over HTTP."""

    url: str
    key: str

    def ask(self, path: str, query: Json) -> httpx.Response:
        """The API's reply, over a connection of its own."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.get(f"{self.url}{path}", params=query, headers=headers, timeout=PATIENCE_SECONDS)

    def get(self, path: str, **query: Any) -> Any:
        """The `data` of an answer. Fails if it is no answer."""
        reply = self.ask(path, query)
        assert reply.status_code == 200, f"{path} {query}: {reply.status_code} {reply.text}"
        return reply.json()["data"]

    def status(self, path: str, **query: Any) -> int:
        """The HTTP status of an answer."""
        return self.ask(path, query).status_code

    def pages(self, path: str, **query: Any) -> Iterator[Json]:
        """All rows of a list."""
        cursor: Json = {}
        while True:
            answer = self.ask(path, {**query, "limit": 1000, **cursor}).json()
            yield from answer["data"]
            if answer["page"]["next"] is None:
                return
            cursor = {"cursor": answer["page"]["next"]}

    def await_all(self) -> None:
        """Wait until everything that was acknowledged is in the graph."""
        progress = self.ask("/api/v2/progress", {"wait_for": "head", "timeout": PATIENCE_SECONDS}).json()
        assert progress["reached"], progress

    def dataset(self, namespace: str, name: str) -> Json:
        """What is known of a dataset."""
        return dict(self.get(f"/api/v2/datasets/{_segment(namespace)}/{_segment(name)}"))

    def job(self, namespace: str, name: str) -> Json:
        """What is known of a job."""
        return dict(self.get(f"/api/v2/jobs/{_segment(namespace)}/{_segment(name)}"))

    def jobs(self, namespace: str) -> dict[str, Json]:
        """The jobs of a namespace, by name."""
        return {one["name"]: one for one in self.pages("/api/v2/jobs", namespace=namespace)}

    def runs(self, namespace: str, name: str) -> list[Json]:
        """The runs of a job, newest first."""
        return list(self.pages(f"/api/v2/jobs/{_segment(namespace)}/{_segment(name)}/runs"))

    def names(self, namespace: str) -> set[str]:
        """The datasets of a namespace."""
        return {one["name"] for one in self.pages("/api/v2/datasets", namespace=namespace)}

    def producers(self) -> list[Json]:
        """Who sent events, and how many."""
        return list(self.ask("/api/v2/status", {}).json()["store"]["producers"])

    def troubles(self, namespace: str, trouble: str) -> dict[str, Json]:
        """The jobs of a namespace on the on-call board, by name; `trouble` is failing or late."""
        listed = self.get("/api/v2/troubles", trouble=trouble, limit=1000)["jobs"]
        mine = [one for one in listed if one["job"].startswith(f"job:{namespace}:")]
        return {last_name(one["job"]): one for one in mine}

    def upstream(self, node: str, **query: Any) -> Json:
        """What a node comes from, one hop of any type unless `query` says otherwise: the whole answer."""
        asked = {"node": node, "types": "both", "depth": 1, "limit": 10_000, **query}
        reply = self.ask("/api/v2/lineage/upstream", asked)
        assert reply.status_code == 200, f"{node}: {reply.text}"
        return dict(reply.json())

    def lineage(
        self,
        namespace: str,
        name: str,
        short: Callable[[str], str],
        *,
        jobs: str = "",
        columns: Collection[str] = (),
    ) -> Lineage:
        """What the columns of a dataset come from, one hop; `short` names a dataset. `jobs`: of those that match alone.

        `columns`: besides those that its schema lists. A type that a producer leaves open counts only where nobody
        says more.
        """
        listed = {one["name"] for one in self.dataset(namespace, name)["fields"]}
        answers = {column: self.upstream(column_id(namespace, name, column)) for column in listed | set(columns)}
        edges = [edge for one in answers.values() for edge in one["data"]["edges"]]
        mine = [edge for edge in edges if edge["owner"] and re.search(jobs, unquote(edge["owner"]))]
        return Lineage(
            flows=frozenset(flow for edge in mine if edge["confirmed"] for flow in _flows(edge, short)),
            unconfirmed=frozenset(flow for edge in mine if not edge["confirmed"] for flow in _flows(edge, short)),
            gaps=frozenset(column for column, one in answers.items() if _is_gap(one)),
            columns=frozenset(listed),
            jobs=frozenset(last_name(edge["owner"]) for edge in mine),
        )


@dataclass(frozen=True, slots=True)
class Served:
    """A running Whence: its address, its data directory, and its administrator."""

    url: str
    data: Path
    admin: User

    def user(self, name: str, role: str, *namespaces: str) -> User:
        """Somebody new, with a role in these namespaces."""
        made = json.loads(self.run("keys", "create", name, "--role", role, "-n", namespaces[0], "-o", "json"))
        for more in namespaces[1:]:
            self.run("access", "grant", f"key:{name}", "--role", role, "--namespaces", more)
        return User(self.url, made["key"])

    def run(self, *words: str) -> str:
        """What `whence` prints."""
        return _whence(self.data, *words)


@contextmanager
def serving(data: Path) -> Iterator[Served]:
    """Run Whence on this machine, guarded by keys, while the context is open."""
    store = sqlite_url(data / "store.db")
    admin = json.loads(_whence(data, "keys", "create", "admin", "--role", "admin", "-o", "json"))
    with running(plan(data, store, port=0, guard=Guard(security=security_db(store, "")))) as url:
        yield Served(url, data, User(url, admin["key"]))


def dataset_id(namespace: str, name: str) -> str:
    """The node id of a dataset."""
    return f"dataset:{namespace}:{_part(name)}"


def column_id(namespace: str, name: str, column: str) -> str:
    """The node id of a column."""
    return f"datasetField:{namespace}:{_part(name)}:{_part(column)}"


def last_name(node: str) -> str:
    """The name at the end of the node id of a dataset or job."""
    return unquote(node.rpartition(":")[2])


def _is_gap(answer: Json) -> bool:
    """Whether an answer says that it does not know all that its own column comes from."""
    return any(gap["at"] == answer["data"]["root"] for gap in answer["data"]["gaps"])


def _flows(edge: Json, short: Callable[[str], str]) -> Iterator[Flow]:
    hows = {f"{one['type']} {one['subtype']}".strip() for one in edge["transformations"]}
    for how in hows - {"UNKNOWN"} or hows:
        yield Flow(_named(edge["source"], short), how, _named(edge["target"], short))


def _named(node: str, short: Callable[[str], str]) -> str:
    if not node.startswith("datasetField:"):
        return short(last_name(node))
    dataset, _, column = node.rpartition(":")
    return f"{short(last_name(dataset))}.{unquote(column)}"


def _part(text: str) -> str:
    return text.replace("%", "%25").replace(":", "%3A")


def _segment(text: str) -> str:
    return quote(text, safe="")


def _whence(data: Path, *words: str) -> str:
    command = [sys.executable, "-m", "whence.cli", *words, "--data", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
    return done.stdout
