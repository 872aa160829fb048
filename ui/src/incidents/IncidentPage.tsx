// One incident: its root, what it explains, its possible causes, whom it affects, what people can do and what they did.

import "../styles/changes.css";
import "../styles/incidents.css";
import type { ReactNode } from "react";
import { apiPath, useAnswer, type IncidentDocument } from "../api";
import { Awaited, exact, Go, Icon, NodeLink, When } from "../components/elements";
import { Runbook } from "../components/Runbook";
import { Section } from "../components/Section";
import { Table } from "../gate/Table";
import { words } from "../texts";
import { Acts } from "./Acts";
import { Next, Upstream, Violations } from "./Around";
import { History } from "./History";
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
        <div className="incident-head">
          {found.incident.silenced_until && (
            <p className="hidden-note">
              <Icon name="silent" size={14} />
              {words.incidents.quietUntil(exact(found.incident.silenced_until))}
            </p>
          )}
          <Acts of={found} />
        </div>
      )}
      {found && (
        <div className="page-columns incident-columns">
          <div>
            {found.incident.root ? (
              <>
                <Causes of={found} />
                <Upstream of={found} />
                <Violations of={found} />
                <Impact of={found} />
              </>
            ) : (
              <Section title={words.incidents.root}>
                <p className="hidden-note" title={words.hidden.ask}>
                  <Icon name="lock" size={14} />
                  {words.incidents.hiddenRoot}
                </p>
              </Section>
            )}
            <Findings of={found} />
            <History of={found} />
          </div>
          <aside>
            <About of={found} />
            <Next of={found} />
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
    [
      incidents.state,
      <IncidentChip key="state" state={one.state} notify={one.notify} isSilenced={!!one.silenced_until} />,
    ],
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
    [incidents.silenced, one.silenced_until && exact(one.silenced_until)],
    [incidents.cause, one.cause && <NodeLink key="cause" id={one.cause} />],
    [incidents.partOf, one.merged.join(", ")],
    [
      incidents.runbook,
      of.runbook ? <Runbook key="runbook" address={of.runbook} /> : one.notify === "page" && incidents.noRunbook,
    ],
    [incidents.lastGood, of.last_good && <When key="good" time={of.last_good.time} />],
    [incidents.commit, of.last_good?.commit?.version],
    [incidents.budgets, of.budgets.length > 0 && <Budgets key="budgets" of={of} />],
  ];
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => !!value)
        .map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
    </dl>
  );
};

const Fact = ({ name, value }: { name: string; value: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd className="breaks">{value}</dd>
  </>
);

const Budgets = ({ of }: { of: IncidentDocument }) => (
  <ul className="slos">
    {of.budgets.map((each) => (
      <li key={each.id}>
        {each.slo}: {words.incidents.left(each.remaining)}
      </li>
    ))}
  </ul>
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
          <div className="cause">
            <b>{words.incidents.probability(one.probability)}</b> <NodeLink id={one.node} />
          </div>
          <ul className="slos breaks cause-evidence">
            {one.evidence.toReversed().map((each) => (
              <li key={`${each.time} ${each.kind} ${each.text}`}>
                <span className="quiet">
                  <When time={each.time} />
                </span>
                <span>{each.text}</span>
              </li>
            ))}
          </ul>
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
          <ul className="slos">
            {one.nearest.map((each) => (
              <li key={each.node} className="with-owners">
                <NodeLink id={each.node} />{" "}
                <small className="quiet breaks">{words.incidents.ownedBy(each.owners)}</small>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  </Section>
);

const openFirst = (findings: IncidentDocument["findings"]): IncidentDocument["findings"] =>
  findings.toSorted((a, b) => Number(!!a.until) - Number(!!b.until));

const Findings = ({ of }: { of: IncidentDocument }) => {
  const { kind, dataset, rule, since, until } = words.incidents;
  return (
    <Section title={words.incidents.findings}>
      <Table heads={[kind, dataset, rule, since, until]}>
        {openFirst(of.findings).map((one) => (
          <tr key={one.id}>
            <td>{one.kind}</td>
            <th scope="row">
              <NodeLink id={one.dataset} />
              {one.column && (
                <div>
                  <small>{`${words.incidents.column} ${one.column}`}</small>
                </div>
              )}
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
