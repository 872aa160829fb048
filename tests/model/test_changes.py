"""The kinds of change: which of them a reader can notice."""

from whence.model.changes import ChangeKind


def test_only_changes_that_no_reader_can_notice_are_harmless() -> None:
    harmless = {kind for kind in ChangeKind if kind.is_harmless}
    assert harmless == {ChangeKind.ADDED, ChangeKind.METADATA, ChangeKind.ORDER}


def test_an_unknown_change_and_a_broken_reference_are_never_harmless() -> None:
    assert not ChangeKind.UNKNOWN.is_harmless
    assert not ChangeKind.BROKEN_REFERENCE.is_harmless
