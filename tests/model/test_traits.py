"""What facets say of datasets and jobs: tags, owners, types, tiers."""

from whence.model.traits import Traits, parse_traits


def test_a_deleted_facet_has_no_traits_and_hides_no_others() -> None:
    assert parse_traits([("tags", "")]) == Traits()
    kept = parse_traits([("tags", ""), ("whence_stewardTags", '{"tags": [{"key": "pii"}]}')])
    assert kept.tags == {("pii", "", "")}
