// What is around an incident: what its root is made of, contracts that are violated, and where to look next.

import type { IncidentDocument } from "../api";
import { explorerAddress, fresh } from "../address";
import { changesAddress } from "../changes/address";
import { exact, Go, Icon, NodeLink, When } from "../components/elements";
import { fieldId } from "../names";
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
        <Table heads={[words.incidents.dataset, words.incidents.rule, words.incidents.since]}>
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
            </tr>
          ))}
        </Table>
      )}
      {!of.violations_complete && <p className="hidden-note">{words.incidents.moreContracts}</p>}
    </Section>
  );

/** The lineage when it began, what changed from a day before on, and what to pause. */
export const Next = ({ of }: { of: IncidentDocument }) => {
  const { root, since } = of.incident;
  if (!root) return null;
  const column = of.findings.find((one) => one.dataset === root && one.column)?.column;
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
        <Go to={changesAddress({ node: root, since: before })} className="button">
          <Icon name="change" />
          {words.incidents.changes}
        </Go>
      </p>
      <p>{words.incidents.pause}</p>
      <code className="breaks">{`whence contain plan ${quoted(column ? fieldId(root, column) : root)}`}</code>
    </Section>
  );
};

/** An argument of a command for a shell: nothing in a name has a meaning. */
const quoted = (argument: string): string => `'${argument.replaceAll("'", "'\\''")}'`;
