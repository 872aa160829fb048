"""Warnings are stored with an event: two processes find the same ones, in the same words."""

import json
import os
import subprocess
import sys

SCRIPT = """
import json, sys
from whence.openlineage.accept import accept
from whence.openlineage.authority.restrictions import Authority
nobody = Authority(lambda action, namespace: namespace == "jobs", lambda *_: False)
print(json.dumps(accept(sys.stdin.buffer.read(), authority=nobody).warnings))
"""

EVENT = {
    "eventTime": "2026-01-01T00:00:00Z",
    "eventType": "COMPLETE",
    "run": {"runId": "01890000-0000-7000-8000-000000000000"},
    "job": {"namespace": "jobs", "name": "load"},
    "outputs": [
        {
            "namespace": "lake",
            "name": "x",
            "facets": {
                "whence_tier": {"tier": 1},
                "ownership": {"owners": [{"name": "ada"}]},
                "documentation": {"description": "text"},
                "tags": {"tags": [{"key": "certified", "value": "true", "source": "USER"}]},
                "symlinks": {"identifiers": [{"namespace": "db", "name": "y", "type": "TABLE"}]},
            },
        }
    ],
}


def test_they_do_not_depend_on_the_seed_of_hashes() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            input=json.dumps(EVENT).encode(),
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in "12345"
    }
    (warnings,) = map(json.loads, found)
    assert warnings[0].startswith("/: not applied: ")
    assert all(place in warnings[0] for place in ("'lake'", "'db'", "steward"))
