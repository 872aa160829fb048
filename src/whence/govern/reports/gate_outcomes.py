"""What gates judged in a week, from their records."""

from collections import Counter
from collections.abc import Iterator

from whence.govern.reports.period import ReportPeriod
from whence.govern.reports.weekly import GateOutcomes
from whence.model.catalog import RegisteredFacet, RegisteredFilter, RegistryKind
from whence.model.gate_records import APPROVAL, PROMOTION, VERDICT, WAIVER, PromotionRecord, VerdictRecord
from whence.query.ports.catalog import Catalog
from whence.query.visibility.gate_records import read_record


def read_gate_outcomes(catalog: Catalog, period: ReportPeriod) -> GateOutcomes:
    """The outcomes of a period. Of a commit or promotion that was judged again the last verdict counts."""
    verdicts = (
        read_record(one.payload, VerdictRecord) for one in _list(catalog, RegistryKind.VERDICT, VERDICT, period)
    )
    promotions = (
        read_record(one.payload, PromotionRecord) for one in _list(catalog, RegistryKind.PROMOTION, PROMOTION, period)
    )
    return GateOutcomes(
        commits=Counter(one.verdict for one in verdicts if one),
        promotions=Counter(one.verdict for one in promotions if one),
        approvals=sum(1 for _ in _list(catalog, RegistryKind.APPROVAL, APPROVAL, period)),
        waivers=sum(1 for _ in _list(catalog, RegistryKind.WAIVER, WAIVER, period)),
    )


def _list(catalog: Catalog, kind: RegistryKind, facet: str, period: ReportPeriod) -> Iterator[RegisteredFacet]:
    return (one for one in catalog.registered_facets(RegisteredFilter(kind, facet)) if period.has(one.time))
