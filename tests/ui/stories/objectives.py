"""The objectives of the story: charges have been late for hours, the features hold, a hostile name is never judged."""

import json
from typing import Any

from ui.stories.datasets import CHARGES, FEATURES, HOSTILE
from whence.govern.slos.records import declaration_event, declaration_of
from whence.govern.slos.slo_file import read_slos
from whence.openlineage.authority.restrictions import person_uri

HOUR = 3_600_000_000

_FILE = {
    "version": 1,
    "service": "billing",
    "slos": [
        {
            "name": "charges are fresh",
            "description": "The report of the night needs them.",
            "dataset": str(CHARGES),
            "indicator": {"freshness": {"limit": "90m"}},
            "objective": {"target": "95%"},
        },
        {
            "name": "features keep their columns",
            "dataset": str(FEATURES),
            "indicator": {"schema": {}},
            "objective": {"target": "99%"},
        },
        {
            "name": "features report their sources",
            "dataset": str(FEATURES),
            "indicator": {"lineage": {"metric": "coverage", "atLeast": "1%"}},
            "objective": {"target": "99.99%"},
        },
        {
            "name": '<img src=x onerror="alert(1)">',
            "dataset": str(HOSTILE),
            "indicator": {"delivery": {"by": "06:00"}},
            "objective": {"target": "90%"},
        },
    ],
}


def declared(now: int) -> list[dict[str, Any]]:
    """The declarations, two days before a time (µs)."""
    return [
        declaration_event(declaration_of(one), one.dataset.namespace, now - 48 * HOUR, person_uri("ada"))
        for one in read_slos(json.dumps(_FILE, ensure_ascii=False)).objectives
    ]
