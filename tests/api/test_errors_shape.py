"""Every error answer has one shape: problem JSON with reason, pointer and position."""

import pytest

from api.process import Api


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/lineage/", 404),
        ("GET", "/lineage", 405),
        ("DELETE", "/lineage/batch", 405),
        ("POST", "/api/v1/lineage", 400),
        ("POST", "/lineage/batch", 400),
        ("GET", "/api/v2/progress?timeout=soon", 422),
        ("GET", "/api/v2/progress?timeout=-1", 422),
        ("GET", "/api/v2/progress?wait_for=there", 400),
        ("GET", "/api/v2/progress?wait_for=1:16", 503),
    ],
)
def test_errors_have_one_shape(api: Api, method: str, path: str, status: int) -> None:
    answer = api.ask(method, path)
    assert answer.status == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.json) == {"type", "title", "status", "detail", "reason", "pointer", "position"}
    assert answer.json["status"] == status
    assert answer.json["reason"]
    assert answer.json["pointer"] == "" or answer.json["pointer"].startswith("/")
    assert answer.json["position"] is None or ":" in answer.json["position"]
    assert ("retry-after" in answer.headers) == (status == 503)
