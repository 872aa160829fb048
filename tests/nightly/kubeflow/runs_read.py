"""Pipelines run on a real kfp's local runner, and are read as the guide says: `make nightly-kubeflow`."""

from pathlib import Path

from capture.kubeflow.lines import lines_of
from nightly.kubeflow.runs import run_shop

EVENTS = Path(__file__).parents[2] / "capture/kubeflow/events.txt"


def test_the_events_are_those_that_were_checked_by_hand(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "shop ü"
    folder.mkdir()
    run_shop(folder)
    assert list(lines_of(folder, str(folder))) == EVENTS.read_text("utf-8").splitlines()
