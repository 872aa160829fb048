"""What ends soon, over HTTP and at the terminal: everybody reads of what they may see, and keys only administrators."""

import json
from typing import Any

import httpx

from govern.certification.shop_story import DAY, PROD, REVENUE, STAGING, fulfilled, ruled
from security.certification.test_certification import get, run, send, shop
from security.conftest import House, now
from test_docs import EXAMPLE, page, shape
from whence.govern.assertions import assert_facets
from whence.govern.declared_rules import find_rule_changes, rule_event
from whence.govern.gate.records import waiver_facets
from whence.govern.policies.policy_file import read_policies
from whence.govern.policies.records import POLICIES
from whence.model.access import Role
from whence.model.gate_records import WaiverRecord, waiver_dataset
from whence.openlineage.authority.restrictions import person_uri
from whence.query.answers.instants import instant, iso
from whence.store.security.api_key_rows import expire_keys, read_keys
from whence.store.security.database import open_security, read_security, write_security

__all__ = ["shop"]


def day(at: int) -> str:
    return iso(at)[:10]


def waived(change: str, at: int, until: int, repository: str) -> bytes:
    facets = waiver_facets(WaiverRecord(reason="until the move", expires=day(until)))
    return json.dumps(assert_facets(waiver_dataset(repository, change), at, person_uri("key:ada"), facets)).encode()


def excepted(at: int, until: int) -> bytes:
    text = f"""
version: 1
policies:
  - name: no personal data
    reason: as agreed
    owner: privacy
    namespaces: ["{PROD}"]
    forbid: {{kind: column, label: pii>=pseudonymous}}
    unless: [{{tag: approved, expires: {day(until)}}}, {{tag: other}}]
"""
    ((record, namespace),) = find_rule_changes(read_policies(text).policies, (), prune=False)
    return json.dumps(rule_event(POLICIES, record, namespace, at, person_uri("key:ada"))).encode()


def listed(found: Any) -> list[tuple[str, str]]:
    return [(one["kind"], one["name"]) for one in found["data"]["expiring"]]


def test_each_caller_reads_what_ends_of_what_they_see(shop: House) -> None:
    ada, at = shop.key("ada", Role.ADMIN), now()
    reader, stranger = shop.key("reader", Role.READER, PROD), shop.key("stranger", Role.READER, STAGING)
    engine = open_security(shop.settings.security_url)
    with read_security(engine) as reading:
        ids = [one.id for one in read_keys(reading) if one.name == "reader"]
    with write_security(engine) as writing:
        expire_keys(writing, ids, at + 20 * DAY)
    engine.dispose()
    ends = [waived("C-1", at, at + 5 * DAY, PROD), waived("C-2", at, at + 60 * DAY, PROD), excepted(at, at + 9 * DAY)]
    ends += [waived("C-3", at, at + 6 * DAY, STAGING), waived("C-4", at, at - 3 * DAY, PROD)]

    async def work(client: httpx.AsyncClient) -> None:
        assert set(await send(client, ada, *fulfilled(REVENUE, at), *ruled(at - 2 * DAY), *ends)) == {201}
        whole = await get(client, ada, "/reports/expirations")
        expected = [("waiver", "C-1"), ("policy exception", "no personal data"), ("api key", "reader")]
        certification = ("certification", REVENUE.name)
        assert listed(whole) == [certification, expected[0], ("waiver", "C-3"), *expected[1:]]
        assert whole["data"]["keys_shown"]
        lapses = instant(whole["data"]["expiring"][0]["expires_at"], 0)
        # Written at `at`, fresh for 25 hours, and 5 % of 30 days may be bad.
        assert at + 25 * 3_600_000_000 + 1.5 * DAY <= lapses <= at + 25 * 3_600_000_000 + 2.6 * DAY
        assert listed(await get(client, ada, "/reports/expirations", within="2d")) == []
        seen = await get(client, reader, "/reports/expirations")
        assert listed(seen) == [certification, *expected[:2]]
        assert not seen["data"]["keys_shown"]
        assert listed(await get(client, stranger, "/reports/expirations")) == [("waiver", "C-3")]
        for wrong in ("soon", "9999999d", ""):
            answer = await client.get("/api/v2/reports/expirations", params={"within": wrong}, headers=ada)
            assert answer.status_code == 400, wrong
        _, (_, _, _, status, documented), _ = EXAMPLE.findall(page("docs/reference/http-reports.md"))
        whole["data"]["expiring"] = whole["data"]["expiring"][:2]  # one with a node and one without, as documented
        assert (200, shape(whole)) == (int(status), shape(json.loads(documented)))

    run(shop, work)
