"""What the runs of the story found and measured of the datasets that they read."""

from typing import Any

from ui.stories.datasets import CLEAN, FEATURES, PREDICTIONS
from whence.model.names import DatasetName
from whence.openlineage.write import facet

HOUR = 3_600_000_000


def checks_of(of: DatasetName) -> dict[str, Any]:
    """What the tests found that run before a dataset is read."""
    found = {FEATURES: (True, True, True), PREDICTIONS: (True, False)}.get(of, ())
    names = ("not_null", "accepted_values", "unique")
    assertions: list[dict[str, Any]] = [
        {"assertion": name, "success": one} for name, one in zip(names, found, strict=False)
    ]
    if of == CLEAN:
        assertions = [{"assertion": "fresh", "success": False, "severity": "warn"}]
    facet_ = facet("DataQualityAssertionsDatasetFacet", assertions=assertions)
    return {"dataQualityAssertions": facet_} if assertions else {}


def metrics_of(of: DatasetName, at: int) -> dict[str, Any]:
    """What was measured before a dataset was read: rows that grow over a day, and at times many nulls."""
    if of != FEATURES:
        return {}
    place = at // HOUR % 24
    columns = {"minutes_30d": {"nullCount": 40 if place % 4 == 0 else 2}}
    metrics = facet("DataQualityMetricsInputDatasetFacet", rowCount=1_200 + 35 * place, columnMetrics=columns)
    return {"dataQualityMetrics": metrics}
