// What declared policies and rules of certification say: violations by age and owner, certifications by their state.

import { usePages, type Listed, type RuleStateRow, type Governance } from "../../api";
import { Go, Icon, NodeLink, When } from "../../components/elements";
import { Table } from "../../gate/Table";
import { words } from "../../texts";
import { boardAddress } from "../dashboardAddress";
import { Paged } from "../Paged";

const texts = words.governance;
const AT_ONCE = 20;

const POLICY_STATES = ["violated", "not evaluated"] as const;

export const Violations = ({ query, found }: { query: URLSearchParams; found: Governance | undefined }) => {
  const counts = found && { violated: found.policies.violated, "not evaluated": found.policies.not_evaluated };
  const first = POLICY_STATES.find((one) => (counts?.[one] ?? 0) > 0) ?? "violated";
  const shown = POLICY_STATES.find((one) => one === query.get("policies")) ?? first;
  const listing = usePages<Listed<RuleStateRow>>("rule-states", { kind: "policy", state: shown, limit: AT_ONCE });
  const rows = listing.pages.flatMap((page) => page.data);
  return (
    <section className="section" id="violations">
      <h2>{texts.violations}</h2>
      <p className="quiet">{texts.violationsOf}</p>
      <p className="chips" role="group" aria-label={texts.state}>
        {POLICY_STATES.map((one) => (
          <Go
            key={one}
            to={boardAddress("governance", { policies: one }) + "#violations"}
            className={one === shown ? "chip chip-button chip-here" : "chip chip-button"}
            isCurrent={one === shown}
          >
            {texts.policyStates[one]} <b>{counts?.[one].toLocaleString("en") ?? ""}</b>
          </Go>
        ))}
      </p>
      <Paged of={listing} isEmpty={!rows.length} none={<NoneOpen shown={shown} found={found} />} lines={4}>
        {rows.length > 0 && <PolicyTable rows={rows} />}
      </Paged>
    </section>
  );
};

const PolicyTable = ({ rows }: { rows: readonly RuleStateRow[] }) => (
  <Table heads={[texts.dataset, texts.policy, texts.since, texts.owner]}>
    {rows.map((one) => (
      <tr key={one.node + " " + one.rule}>
        <th scope="row">
          <NodeLink id={one.node} />
        </th>
        <td data-label={texts.policy} className="breaks">
          {one.rule}
          {one.blocks && <span className="chip chip-bad">{texts.blocks}</span>}
          {one.reason && <small className="sub">{one.reason}</small>}
        </td>
        <td data-label={texts.since}>
          <When time={one.since} />
        </td>
        <td data-label={texts.owner}>
          <Owners of={one.owners} />
        </td>
      </tr>
    ))}
  </Table>
);

// What was not evaluated is no pass: only without any of it every policy holds.
const NoneOpen = ({ shown, found }: { shown: (typeof POLICY_STATES)[number]; found: Governance | undefined }) => {
  if (found?.policies.declared === 0) return <NoPolicies />;
  if (shown === "not evaluated") return <p className="quiet">{texts.allEvaluated}</p>;
  return found?.policies.not_evaluated ? (
    <p className="quiet">{texts.violatedNone}</p>
  ) : (
    <Well text={texts.violationsNone} />
  );
};

const NoPolicies = () => (
  <p className="quiet">
    {texts.noPolicies} <code>{texts.policyCommand}</code>
  </p>
);

const Well = ({ text }: { text: string }) => (
  <p className="all-well">
    <Icon name="check" size={18} />
    {text}
  </p>
);

const Owners = ({ of }: { of: readonly string[] }) =>
  of.length ? <span className="breaks">{of.join(", ")}</span> : <span className="chip chip-warn">{texts.nobody}</span>;

const SHOWS = ["lapsed", "expiring", "not certified", "not evaluated", "certified"] as const;
type Shown = (typeof SHOWS)[number];

const countsOf = (found: Governance): Record<Shown, number> => ({
  lapsed: found.certification.lapsed,
  expiring: found.expiring.length,
  "not certified": found.certification.not_certified,
  "not evaluated": found.certification.not_evaluated,
  certified: found.certification.certified,
});

export const Certifications = ({ query, found }: { query: URLSearchParams; found: Governance | undefined }) => {
  const counts = found && countsOf(found);
  // What needs somebody comes first.
  const first = SHOWS.find((one) => (counts?.[one] ?? 0) > 0) ?? "lapsed";
  const shown = SHOWS.find((one) => one === query.get("status")) ?? first;
  return (
    <section className="section" id="certifications">
      <h2>{texts.certifications}</h2>
      <p className="chips" role="group" aria-label={texts.state}>
        {SHOWS.map((one) => (
          <Go
            key={one}
            to={boardAddress("governance", { status: one }) + "#certifications"}
            className={one === shown ? "chip chip-button chip-here" : "chip chip-button"}
            isCurrent={one === shown}
          >
            {texts.shows[one]} <b>{counts?.[one].toLocaleString("en") ?? ""}</b>
          </Go>
        ))}
      </p>
      {shown === "expiring" ? found && <Expiring found={found} /> : <Certified shown={shown} />}
    </section>
  );
};

const Expiring = ({ found }: { found: Governance }) =>
  found.expiring.length ? (
    <ul className="certified">
      {found.expiring.map((one) => (
        <li key={one.node}>
          <NodeLink id={one.node} />
          <small className="sub breaks">{texts.ends(one.contract_version, one.last_day, one.days)}</small>
        </li>
      ))}
    </ul>
  ) : (
    <p className="quiet">{texts.none["expiring"]}</p>
  );

const Certified = ({ shown }: { shown: Exclude<Shown, "expiring"> }) => {
  const asked = shown === "lapsed" ? { lapsed: "true" } : { state: shown };
  const listing = usePages<Listed<RuleStateRow>>("rule-states", { kind: "certification", ...asked, limit: AT_ONCE });
  const rows = listing.pages.flatMap((page) => page.data);
  return (
    <Paged of={listing} isEmpty={!rows.length} none={texts.none[shown]} lines={3}>
      {rows.length > 0 && (
        <ul className="certified">
          {rows.map((one) => (
            <li key={one.node}>
              <NodeLink id={one.node} />
              <small className="sub breaks">
                {one.reason && `${texts.notMet(one.reason)} · `}
                {texts.sinceWhen} <When time={one.since} /> · {one.owners.join(", ") || texts.unowned}
              </small>
            </li>
          ))}
        </ul>
      )}
    </Paged>
  );
};
