"""KPIs before and after they were measured."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
from deltalake import write_deltalake

from api.asked import asking
from fixtures.migrated_stores import open_migrated
from whence.derive.delta.table import table_uri
from whence.derive.kpis.series import kpis
from whence.derive.lineage_tables.schema import KPI


def test_kpis_before_and_after_they_were_measured(store_url: str, tmp_path: Path) -> None:
    engine = open_migrated(store_url)
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        empty = client.get("/api/v2/kpis").json["data"]
    assert [one["name"] for one in empty] == [one.name for one in kpis()]
    assert all(one["value"] is None and one["measured_at"] is None and one["series"] == [] for one in empty)
    days = [datetime(2026, 11, day, tzinfo=UTC) for day in (1, 2)]
    rows = [
        {
            "measured_at": day,
            "name": "event_loss_rate",
            "value": value,
            "unit": "ratio",
            "numerator": 1,
            "denominator": 4,
        }
        for day, value in zip(days, (0.5, 0.25), strict=True)
    ]
    write_deltalake(table_uri(str(tmp_path / "tables"), "kpi"), pa.Table.from_pylist(rows, KPI.plain))
    with asking(tmp_path, store_url) as client:
        by = {one["name"]: one for one in client.get("/api/v2/kpis").json["data"]}
    assert by["event_loss_rate"]["value"] == 0.25
    assert [point["value"] for point in by["event_loss_rate"]["series"]] == [0.5, 0.25]
    assert datetime.fromisoformat(by["event_loss_rate"]["measured_at"]) == days[1]
    assert by["staleness_max"]["value"] is None


def test_kpis_are_not_read_anew_for_every_question(store_url: str, tmp_path: Path) -> None:
    engine = open_migrated(store_url)
    engine.dispose()
    row = {
        "measured_at": datetime.now(UTC) - timedelta(days=1),
        "name": "staleness_max",
        "value": 1.0,
        "unit": "seconds",
    }
    with asking(tmp_path, store_url) as client:
        before = client.get("/api/v2/kpis").json
        write_deltalake(table_uri(str(tmp_path / "tables"), "kpi"), pa.Table.from_pylist([row], KPI.plain))
        assert client.get("/api/v2/kpis").json == before
