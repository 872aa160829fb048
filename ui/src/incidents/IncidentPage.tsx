// One incident: its root, what it explains, its possible causes, whom it affects, and what happened, in order.

import type { ReactNode } from "react";
import { apiPath, useAnswer, type IncidentDocument } from "../api";
import { Awaited, Go, NodeLink, When } from "../components/elements";
import { Section } from "../components/Section";
import { Table } from "../gate/Table";
import { words } from "../texts";
import { IncidentChip } from "./IncidentChip";

export const IncidentPage = ({ incident }: { incident: string }) => {
  const query = useAnswer<{ data: IncidentDocument }>(apiPath(`incidents/${encodeURIComponent(incident)}`, {}));
  const found = query.answer?.data;
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1 className="breaks">{found ? found.incident.title : words.incidents.one}</h1>
          {found && found.incident.id !== incident && <p>{words.incidents.merged(incident)}</p>}
          {found && !found.incident.complete && <p>{words.incidents.incomplete}</p>}
        </div>
        <Go to="./incidents" className="button">
          {words.incidents.every}
        </Go>
      </header>
      <Awaited of={query} lines={8} />
      {found && (
        <div className="page-columns">
          <div>
            <Causes of={found} />
            <Impact of={found} />
            <Findings of={found} />
            <Past of={found} />
          </div>
          <aside>
            <About of={found} />
          </aside>
        </div>
      )}
    </div>
  );
};

const About = ({ of }: { of: IncidentDocument }) => {
  const one = of.incident;
  const { incidents } = words;
  const facts: [string, ReactNode][] = [
    [incidents.state, <IncidentChip key="state" state={one.state} notify={one.notify} />],
    [incidents.since, <When key="since" time={one.since} />],
    [incidents.until, one.until && <When key="until" time={one.until} />],
    [incidents.root, one.roots.length > 0 && <Nodes key="roots" ids={one.roots} />],
    [incidents.symptoms, one.symptoms.length > 0 && <Nodes key="symptoms" ids={one.symptoms} />],
    [incidents.otherRoots, one.other_roots.length > 0 && <Nodes key="others" ids={one.other_roots} />],
    ["", one.hidden_datasets > 0 && incidents.hiddenDatasets(one.hidden_datasets)],
    [incidents.severity, of.severity],
    [incidents.why, one.notify_rule],
    [incidents.routedTo, one.routed_to],
    [incidents.assignee, one.assignee],
    [incidents.silenced, one.silenced_until && <When key="silenced" time={one.silenced_until} />],
    [incidents.cause, one.cause && <NodeLink key="cause" id={one.cause} />],
    [incidents.runbook, of.runbook],
    [incidents.lastGood, of.last_good && <When key="good" time={of.last_good.time} />],
    [incidents.commit, of.last_good?.commit?.version],
    [incidents.budgets, of.budgets.map((each) => `${each.slo}: ${incidents.left(each.remaining)}`).join("; ")],
  ];
  return (
    <>
      <dl className="facts">
        {facts
          .filter(([, value]) => !!value)
          .map(([name, value]) => (
            <Fact key={name} name={name} value={value} />
          ))}
      </dl>
      <p className="breaks">{incidents.acting(one.id)}</p>
    </>
  );
};

const Fact = ({ name, value }: { name: string; value: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd className="breaks">{value}</dd>
  </>
);

const Nodes = ({ ids }: { ids: readonly string[] }) => (
  <ul className="slos">
    {ids.map((id) => (
      <li key={id}>
        <NodeLink id={id} />
      </li>
    ))}
  </ul>
);

const Causes = ({ of }: { of: IncidentDocument }) => (
  <Section title={words.incidents.causes}>
    {of.causes.length === 0 && <p>{words.incidents.noCauses}</p>}
    <ul className="slos">
      {of.causes.map((one) => (
        <li key={one.node}>
          {words.incidents.probability(one.probability)} <NodeLink id={one.node} />
          <div className="breaks">{one.evidence.map((each) => each.text).join("; ")}</div>
        </li>
      ))}
    </ul>
  </Section>
);

const Impact = ({ of }: { of: IncidentDocument }) => (
  <Section title={words.incidents.impact}>
    {of.impact.length === 0 && <p>{words.incidents.noImpact}</p>}
    <ul className="slos">
      {of.impact.map((one) => (
        <li key={one.kind}>
          {words.incidents.downstream(one.total, one.kind)}
          <Nodes ids={one.nearest.map((each) => each.node)} />
        </li>
      ))}
    </ul>
  </Section>
);

const Findings = ({ of }: { of: IncidentDocument }) => {
  const { kind, dataset, rule, since, until } = words.incidents;
  return (
    <Section title={words.incidents.findings}>
      <Table heads={[kind, dataset, rule, since, until]}>
        {of.findings.map((one) => (
          <tr key={one.id}>
            <td>{one.kind}</td>
            <th scope="row">
              <NodeLink id={one.dataset} />
            </th>
            <td data-label={rule} className="breaks">
              {[one.rule, one.reason].filter(Boolean).join(": ") || "–"}
            </td>
            <td data-label={since}>
              <When time={one.since} />
            </td>
            <td data-label={until}>{one.until ? <When time={one.until} /> : "–"}</td>
          </tr>
        ))}
      </Table>
    </Section>
  );
};

interface Entry {
  time: string;
  what: string;
  by: string | null;
  text: string | null;
}

/** States and acts in one order, the latest first; a state that an act made comes with it. */
const entries = (of: IncidentDocument): Entry[] => {
  const states = of.changes
    .filter((one) => !one.by)
    .map((one) => ({
      time: one.time,
      what: [one.state, one.notify].filter(Boolean).join(", "),
      by: null,
      text: one.reason,
    }));
  const acts = of.acts.map((one) => ({
    time: one.time,
    what: one.act,
    by: one.person,
    text: [one.assignee, one.cause, one.until, one.text].filter(Boolean).join(", "),
  }));
  return [...states, ...acts].sort((a, b) => b.time.localeCompare(a.time));
};

const Past = ({ of }: { of: IncidentDocument }) => {
  const { when, what, by, text } = words.incidents;
  return (
    <Section title={words.incidents.history}>
      <Table heads={[when, what, by, text]}>
        {entries(of).map((one, place) => (
          <tr key={place}>
            <td>
              <When time={one.time} />
            </td>
            <th scope="row">{one.what}</th>
            <td data-label={by}>{one.by ?? "–"}</td>
            <td data-label={text} className="breaks">
              {one.text || "–"}
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
};
