// What is around an incident: what its root is made of, contracts that are violated, and where to look next.

import type { IncidentDocument } from "../api";
import { explorerAddress, fresh } from "../address";
import { changesAddress } from "../changes/address";
import { exact, Go, Icon, NodeLink, RunLink, When } from "../components/elements";
import { Section } from "../components/Section";
import { Table } from "../gate/Table";
import { words } from "../texts";

const DAY = 86_400_000;

export const Upstream = ({ of }: { of: IncidentDocument }) =>
  of.upstream.length > 0 && (
    <Section title={words.incidents.upstream}>
      <Table heads={[words.incidents.dataset, words.incidents.written, ""]}>
        {of.upstream.map((one) => (
          <tr key={one.dataset}>
            <th scope="row">
              <NodeLink id={one.dataset} />
            </th>
            <td data-label={words.incidents.written}>
              {one.last_written ? <When time={one.last_written} /> : words.incidents.neverWritten}
            </td>
            <td>{one.wrong && <span className="chip chip-bad">{words.incidents.alsoWrong}</span>}</td>
          </tr>
        ))}
      </Table>
    </Section>
  );

export const Violations = ({ of }: { of: IncidentDocument }) =>
  (of.contract_violations.length > 0 || !of.violations_complete) && (
    <Section title={words.incidents.contracts}>
      {of.contract_violations.length > 0 && (
        <Table heads={[words.incidents.dataset, words.incidents.rule, words.incidents.since, words.incidents.until]}>
          {of.contract_violations.map((one) => (
            <tr key={`${one.dataset} ${one.rule} ${one.column} ${one.since}`}>
              <th scope="row">
                <NodeLink id={one.dataset} />
              </th>
              <td data-label={words.incidents.rule} className="breaks">
                {one.column ? words.incidents.ruleOf(one.rule, one.column) : one.rule}
              </td>
              <td data-label={words.incidents.since}>
                <When time={one.since} />
              </td>
              <td data-label={words.incidents.until}>
                {one.until ? (
                  <When time={one.until} />
                ) : (
                  <span className="chip chip-bad">{words.incidents.violatedNow}</span>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {!of.violations_complete && <p className="hidden-note">{words.incidents.moreContracts}</p>}
    </Section>
  );

/** The lineage when it began, what changed from a day before on, where to roll back to, and what to pause. */
export const Next = ({ of }: { of: IncidentDocument }) => {
  const { root, since } = of.incident;
  if (!root) return null;
  const before = new Date(Date.parse(since) - DAY).toISOString();
  return (
    <Section title={words.incidents.next}>
      <p className="chips">
        <Go
          to={explorerAddress({ ...fresh(root), asOf: since, lens: "health" })}
          className="button"
          title={exact(since)}
        >
          <Icon name="graph" />
          {words.incidents.lineageThen}
        </Go>
        {of.last_good && (
          <Go
            to={explorerAddress({ ...fresh(root), versus: of.last_good.time })}
            className="button"
            title={exact(of.last_good.time)}
          >
            <Icon name="graph" />
            {words.incidents.compare}
          </Go>
        )}
        <Go to={changesAddress({ node: root, since: before })} className="button">
          <Icon name="change" />
          {words.incidents.changes}
        </Go>
      </p>
      {of.pause && <Rollback of={of} />}
      {of.pause && <Pause plan={of.pause} />}
    </Section>
  );
};

const Rollback = ({ of: { rollback: point, last_good: good } }: { of: IncidentDocument }) => {
  const { incidents } = words;
  if (!point) return <p>{good ? incidents.noRollback : incidents.noWrite}</p>;
  const isKnown = point.checked && point.hidden === 0;
  return (
    <>
      <p>{incidents.rollback}</p>
      <ul className="slos breaks">
        <li>
          <When time={point.time} /> <RunLink run={point.run} /> <NodeLink id={point.job} />
        </li>
        <li>{point.commit ? incidents.ofCommit(point.commit.version || point.commit.url) : incidents.noCommit}</li>
        <li>{point.version ? incidents.ofVersion(point.version) : incidents.noVersion}</li>
        {!isKnown && <li className="hidden-note">{incidents.uncheckedRollback}</li>}
      </ul>
    </>
  );
};

const Pause = ({ plan }: { plan: NonNullable<IncidentDocument["pause"]> }) => {
  const { incidents } = words;
  const others = [
    incidents.unscheduled(plan.unscheduled),
    incidents.uncertain(plan.uncertain),
    incidents.hiddenJobs(plan.hidden),
    plan.complete ? "" : incidents.morePauses,
  ].filter(Boolean);
  if (!plan.total && !others.length) return <p>{incidents.nothingToPause}</p>;
  return (
    <>
      <p>{incidents.couldPause(plan.total)}</p>
      <ul className="slos breaks">
        {plan.schedules.map((one) => (
          <li key={`${one.system} ${one.namespace} ${one.id}`}>
            <bdi>{one.id}</bdi>{" "}
            <small className="quiet">
              {one.system} <bdi>{one.namespace}</bdi>
              {one.running && ` · ${incidents.runsNow}`}
            </small>
          </li>
        ))}
        {plan.schedules.length < plan.total && <li>{incidents.moreSchedules(plan.total - plan.schedules.length)}</li>}
        {others.map((one) => (
          <li key={one} className="quiet">
            {one}
          </li>
        ))}
      </ul>
      <p>{incidents.pause}</p>
      <code className="breaks">{`whence contain plan ${quoted(plan.node)}`}</code>
    </>
  );
};

/** An argument of a command for a shell: nothing in a name has a meaning. */
const quoted = (argument: string): string => `'${argument.replaceAll("'", "'\\''")}'`;
