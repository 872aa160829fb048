"""The counts of an impact as words: whose nodes break, and of which tier."""

from cli.answers.test_changes_lines import FEATURES, STYLE, WHOLE
from whence.cli.answers.impact import impact_lines
from whence.client.answers.graph import Impact
from whence.client.values.graph import Counts


def test_owners_and_tiers_are_words() -> None:
    counts = Counts(
        nodes=7,
        jobs=0,
        by_kind={"dataset": 7},
        by_type={"dataset": 7},
        by_owner={"": 2, "team:churn": 5},
        by_tier={"": 5, "1": 2},
        by_distance={},
        by_influence={},
    )
    found = Impact(
        root=FEATURES,
        grain="dataset",
        types=("both",),
        completeness=WHOLE,
        counts=counts,
        nodes=(),
        jobs=(),
        dropped_at=None,
    )
    assert [line.plain for line in impact_lines(found, STYLE)][3:5] == [
        "owners: none (2), team:churn (5)",
        "tiers: none (5), 1 (2)",
    ]
