"""Column lineage of recorded explanations of Spark Connect, against the truth written from the statements alone.

`make nightly-spark-connect` records them anew, with the capture in a client of a running server.
"""

from pathlib import Path

import pytest

from nightly.spark_battery import statements
from nightly.spark_battery.connect_replay import replay_explanations
from nightly.spark_battery.connect_score import NOT_RUNNABLE
from nightly.spark_battery.replay import ROOT
from nightly.spark_battery.score import judge

EXPLANATIONS = Path(__file__).parent / "explanations"
RELEASES = sorted(path.name.removesuffix(".jsonl.gz") for path in EXPLANATIONS.glob("*.jsonl.gz"))
STREAMS_AND_CHECKPOINTS = ("s50_local_checkpoint", "s67_stream_file_to_file")
"""Those whose lineage needs more than one explanation: the nightly run has them."""


@pytest.mark.parametrize("release", RELEASES)
def test_every_statement_has_the_lineage_of_its_text(release: str) -> None:
    left_out = {*NOT_RUNNABLE, *STREAMS_AND_CHECKPOINTS}
    names = [one.name for one in statements.STATEMENTS if not (one.fails or one.needs or one.name in left_out)]
    verdicts = judge(replay_explanations(EXPLANATIONS / f"{release}.jsonl.gz"), ROOT, names)
    assert {one.name: one.differences for one in verdicts if one.differences} == {}
    assert len(verdicts) == len(names) >= 62
    assert sum(one.right for one in verdicts) >= 141
