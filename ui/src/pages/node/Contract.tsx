// The contract of a dataset, now or at a time: the version that held, what the data lack of it, and its timeline.

import { useAnswer, type ContractHistory } from "../../api";
import { nodeAddress } from "../../address";
import { Awaited, exact, Go, When } from "../../components/elements";
import { Section } from "../../components/Section";
import { words } from "../../texts";

type Evaluation = NonNullable<ContractHistory["evaluation"]>;
type Rule = Evaluation["rules"][number];
type Transition = NonNullable<ContractHistory["transitions"]>["changes"][number];

export const Contract = ({ node, asOf }: { node: string; asOf?: string }) => {
  const query = useAnswer<{ data: ContractHistory }>(
    `../api/v2/nodes/${encodeURIComponent(node)}/contract?${new URLSearchParams({
      transitions: "true",
      ...(asOf ? { as_of: asOf } : {}),
    })}`,
  );
  const found = query.answer?.data;
  return (
    <Section title={words.contract.title}>
      {asOf && (
        <p className="chips">
          <span className="chip">{words.contract.asOf(/^\d{4}-/.test(asOf) ? exact(asOf) : asOf)}</span>
          <Go to={nodeAddress(node)} className="chip chip-button">
            {words.contract.now}
          </Go>
        </p>
      )}
      <Awaited of={query} />
      {found && <Held one={found.contract} />}
      {found?.evaluation && <Violations of={found.evaluation} />}
      {found?.evaluation && <Rules rules={found.evaluation.rules} />}
      {found && <Timeline of={found} node={node} />}
    </Section>
  );
};

const Held = ({ one }: { one: ContractHistory["contract"] }) =>
  one ? (
    <p>
      {[one.id, one.version, one.status].filter(Boolean).join(" · ")}
      {one.owners.length > 0 && ` · ${words.contract.owners(one.owners)}`}
    </p>
  ) : (
    <p className="quiet">{words.contract.none}</p>
  );

const Violations = ({ of }: { of: Evaluation }) => {
  const violated = of.rules.filter((one) => one.outcome === "violated");
  return (
    <>
      {of.not_evaluated && <p className="quiet">{words.contract.notEvaluated(of.not_evaluated)}</p>}
      {of.violations.length + violated.length > 0 && (
        <ul className="violations">
          {of.violations.map((one) => (
            <li key={`${one.rule} ${one.column}`}>
              <span className="mono">{one.column}</span>: {words.contract.violation(one.expected, one.observed)}
            </li>
          ))}
          {violated.map((one) => (
            <li key={`${one.rule} ${one.column}`} title={one.run ?? undefined}>
              <RuleName one={one} />: {words.contract.broken(one.expected, one.observed)}
            </li>
          ))}
        </ul>
      )}
    </>
  );
};

const Rules = ({ rules }: { rules: readonly Rule[] }) => {
  const held = rules.filter((one) => one.outcome === "holds").length;
  const open = rules.filter((one) => one.outcome === "not evaluated");
  return (
    <>
      {held > 0 && <p>{words.contract.held(held)}</p>}
      {open.length > 0 && (
        <details>
          <summary className="quiet">{words.contract.open(open.length)}</summary>
          <ul className="quiet breaks">
            {open.map((one) => (
              <li key={`${one.rule} ${one.column}`}>
                <RuleName one={one} />: {one.reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
};

const RuleName = ({ one }: { one: { rule: string; column: string | null } }) => (
  <>
    {one.column && <span className="mono">{one.column}</span>} {one.rule !== "column" && one.rule}
  </>
);

/** Versions and transitions, the latest first. A version leads to the page as of then. */
const Timeline = ({ of, node }: { of: ContractHistory; node: string }) => {
  const changes = of.transitions?.changes ?? [];
  const entries = [
    ...of.versions.map((one) => ({ time: one.applied_at, key: `v ${one.id} ${one.version}`, version: one.version })),
    ...changes.map((one) => ({ time: one.time, key: `t ${one.rule} ${one.column}`, change: one })),
  ].sort((one, other) => Date.parse(other.time) - Date.parse(one.time));
  if (entries.length < 2) return null;
  return (
    <ol className="contract-timeline">
      {entries.map((one) => (
        <li key={`${one.key} ${one.time}`}>
          {"change" in one ? (
            <Changed one={one.change} />
          ) : (
            <Go to={nodeAddress(node, one.time)} title={exact(one.time)}>
              {one.version ? words.contract.version(one.version) : words.contract.ended}
            </Go>
          )}
          {" · "}
          <When time={one.time} />
        </li>
      ))}
      {of.transitions?.known_from && (
        <li className="quiet">{words.contract.earlier(exact(of.transitions.known_from))}</li>
      )}
    </ol>
  );
};

const Changed = ({ one }: { one: Transition }) => (
  <span className={one.after === "violated" ? "fate-bad" : undefined}>
    <RuleName one={one} /> {words.contract.after[one.after ?? "ended"] ?? one.after}
  </span>
);
