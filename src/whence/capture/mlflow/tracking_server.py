"""MLflow's REST API 2.0, as far as the capture reads it (https://mlflow.org/docs/latest/rest-api.html)."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx2
import yaml

from whence.capture.polling.http_source import explain_refusal
from whence.errors import SourceError
from whence.openlineage.json.wire import Json
from whence.tls import server_verification
from whence_client.redaction.credentials import strip_credentials

_API = "api/2.0/mlflow"
_PAGE = 500
_SECONDS = 60.0
_ABSENT = 404
_UNAUTHORIZED = 401
CREDENTIALS = ("MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD")


@dataclass(slots=True)
class TrackingServer:
    """A tracking server. Credentials are those of MLflow's own variables, never part of an event.

    Every method raises SourceError if the server does not answer, or refuses.
    """

    uri: str
    time: int = 0
    """The server's clock at its last answer, in milliseconds since 1970."""
    _client: httpx2.Client | None = None

    @property
    def _address(self) -> str:
        return strip_credentials(self.uri)

    def version(self) -> str:
        """The release of MLflow that the server runs."""
        return self._request("GET", "version").text.strip()

    def experiments(self) -> Iterator[Json]:
        """All active experiments."""
        return self._pages("experiments/search", "experiments", {})

    def runs(self, experiments: Sequence[str], condition: str, *, order: str = "") -> Iterator[Json]:
        """The runs of experiments, deleted ones too, in an order of MLflow's."""
        query: Json = {"experiment_ids": list(experiments), "run_view_type": "ALL", "filter": condition}
        return self._pages("runs/search", "runs", {**query, "order_by": [order] if order else []})

    def run(self, run_id: str) -> Json | None:
        """A run by its id; None if there is none."""
        return self._one("runs/get", "run", {"run_id": run_id})

    def experiment(self, experiment_id: str) -> Json | None:
        """An experiment by its id; None if there is none."""
        return self._one("experiments/get", "experiment", {"experiment_id": experiment_id})

    def logged_model(self, model_id: str) -> Json | None:
        """A logged model by its id; None if there is none, as after its deletion, or before MLflow 3."""
        return self._one(f"logged-models/{quote(model_id, safe='')}", "model", {})

    def signature(self, model_id: str) -> Json:
        """The signature in a logged model's `MLmodel` file; empty if it has none, or its file cannot be read."""
        path = f"ajax-{_API}/logged-models/{quote(model_id, safe='')}/artifacts/files"
        reply = self._send("GET", path, params={"artifact_file_path": "MLmodel"})
        if not reply.is_success:
            return {}
        try:
            found = yaml.safe_load(reply.text)
        except yaml.YAMLError:
            return {}
        signature = found.get("signature") if isinstance(found, dict) else None
        return signature if isinstance(signature, dict) else {}

    def registered_models(self) -> Iterator[Json]:
        """All registered models, with their aliases."""
        return self._pages("registered-models/search", "registered_models", {}, method="GET")

    def model_versions(self) -> Iterator[Json]:
        """All versions of all registered models."""
        return self._pages("model-versions/search", "model_versions", {}, method="GET")

    def close(self) -> None:
        """Close the connections; the next question opens them again."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _one(self, path: str, member: str, query: Json) -> Json | None:
        reply = self._send("GET", f"{_API}/{path}", params=query)
        return None if reply.status_code == _ABSENT else self._document(reply).get(member)

    def _pages(self, path: str, member: str, query: Json, method: str = "POST") -> Iterator[Json]:
        token = ""
        while True:
            parameters = {**query, "max_results": _PAGE, **({"page_token": token} if token else {})}
            sent: dict[str, Any] = {"json": parameters} if method == "POST" else {"params": parameters}
            document = self._document(self._send(method, f"{_API}/{path}", **sent))
            yield from document.get(member) or ()
            token = document.get("next_page_token") or ""
            if not token:
                return

    def _document(self, reply: httpx2.Response) -> Json:
        document = self._checked(reply).json()
        return document if isinstance(document, dict) else {}

    def _request(self, method: str, path: str) -> httpx2.Response:
        return self._checked(self._send(method, path))

    def _checked(self, reply: httpx2.Response) -> httpx2.Response:
        if reply.is_success:
            return reply
        if reply.status_code == _UNAUTHORIZED:
            raise SourceError(self._address, explain_refusal(reply.url.path.lstrip("/"), CREDENTIALS))
        raise SourceError(self._address, f"HTTP {reply.status_code}: {reply.text[:300]}")

    def _send(self, method: str, path: str, **sent: Any) -> httpx2.Response:
        if self._client is None:
            verify = server_verification(self.uri)
            self._client = httpx2.Client(timeout=_SECONDS, auth=_auth(), headers=_headers(), verify=verify)
        try:
            reply = self._client.request(method, f"{self.uri.rstrip('/')}/{path}", **sent)
        except httpx2.HTTPError as error:
            raise SourceError(self._address, f"{type(error).__name__}: {error}") from None
        if "date" in reply.headers:
            self.time = round(parsedate_to_datetime(reply.headers["date"]).timestamp() * 1000)
        return reply


def _auth() -> tuple[str, str] | None:
    user = os.environ.get("MLFLOW_TRACKING_USERNAME")
    return (user, os.environ.get("MLFLOW_TRACKING_PASSWORD", "")) if user else None


def _headers() -> dict[str, str]:
    token = os.environ.get("MLFLOW_TRACKING_TOKEN")
    return {"Authorization": f"Bearer {token}"} if token else {}
