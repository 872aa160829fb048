"""Which names of a dataset are one, reasoned by hand from docs/explanation/state.md."""

from oracle.stories import (
    Json,
    dataset_event,
    state,
)


def _links(name: str, *links: tuple[str, str]) -> Json:
    identifiers = [{"namespace": "n", "name": alias, "type": kind} for alias, kind in links]
    return dataset_event(1, name, {"symlinks": {"identifiers": identifiers}})


def _groups(events: list[Json]) -> list[tuple[str, list[str]]]:
    return [(line["representative"], line["members"]) for line in state(events) if line.get("derived") == "alias_group"]


def test_a_table_name_represents_its_location() -> None:
    assert _groups([_links("/path", ("t", "TABLE"))]) == [("dataset:n:t", ["dataset:n:/path", "dataset:n:t"])]


def test_a_location_that_two_tables_share_joins_neither() -> None:
    assert _groups([_links("/path", ("t", "TABLE")), _links("/path", ("u", "TABLE"))]) == []


def test_a_shared_location_still_joins_by_other_links() -> None:
    events = [_links("/path", ("t", "TABLE"), ("u", "TABLE"), ("/mnt/path", "LOCATION"))]
    assert _groups(events) == [("dataset:n:/path", ["dataset:n:/mnt/path", "dataset:n:/path"])]


def test_a_path_represents_no_table() -> None:
    by_hive, by_spark = _links("t", ("/path", "LOCATION")), _links("/path", ("t", "TABLE"))
    both = [("dataset:n:t", ["dataset:n:/path", "dataset:n:t"])]
    assert _groups([by_hive]) == _groups([by_spark]) == _groups([by_hive, by_spark]) == both


def test_a_path_comes_after_names_of_other_types() -> None:
    events = [
        _links("t", ("/path", "LOCATION"), ("/other", "LOCATION")),
        _links("u", ("t", "")),
        _links("/a", ("t", "")),
    ]
    assert [first for first, _ in _groups(events)] == ["dataset:n:/a"]
    assert [first for first, _ in _groups([*events, _links("/other", ("u", "TABLE"))])] == ["dataset:n:u"]


def test_what_is_linked_as_a_table_is_none_of_the_paths() -> None:
    events = [_links("t", ("/b", "LOCATION")), _links("/c", ("/b", "TABLE"))]
    assert [first for first, _ in _groups(events)] == ["dataset:n:/b"]


def test_of_paths_alone_the_smallest_represents() -> None:
    events = [_links("/b", ("/c", "LOCATION")), _links("/c", ("/b", "LOCATION"))]
    assert [first for first, _ in _groups(events)] == ["dataset:n:/b"]


def _word(time: int, name: str, alias: str, kind: str) -> Json:
    identifiers = [{"namespace": "n", "name": alias, "type": f"whence:{kind.lower()}"}]
    return dataset_event(time, name, {"whence_aliases": {"identifiers": identifiers}})


def test_a_person_cuts_an_alias_and_joins_it_again() -> None:
    facets = [_links("/path", ("t", "TABLE")), _links("/path", ("/mnt", "LOCATION"))]
    cut = _word(2, "t", "/path", "CUT")  # from either end
    assert _groups([*facets, cut]) == [("dataset:n:/path", ["dataset:n:/mnt", "dataset:n:/path"])]
    again = _word(3, "/path", "t", "JOINED")
    everyone = [("dataset:n:t", ["dataset:n:/mnt", "dataset:n:/path", "dataset:n:t"])]
    assert _groups([*facets, cut, again]) == everyone
    assert _groups([*facets, _word(1, "/path", "t", "CUT"), _word(0, "/path", "t", "JOINED")]) != everyone


def test_a_cut_table_does_not_share_its_location() -> None:
    facets = [_links("/path", ("t", "TABLE"), ("u", "TABLE")), _word(2, "/path", "u", "CUT")]
    assert _groups(facets) == [("dataset:n:t", ["dataset:n:/path", "dataset:n:t"])]


def test_joining_again_joins_nothing_by_itself() -> None:
    assert _groups([_word(1, "a", "b", "JOINED")]) == []
