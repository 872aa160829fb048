// The checks of a dataset: of each the latest result, and the results of the runs before.

import { apiPath, useAnswer, type CheckResult, type CheckResults, type Envelope } from "../../api";
import { pageAddress } from "../../address";
import { Awaited, exact, Go, runId, When } from "../../components/elements";
import { Section } from "../../components/Section";
import { isHiddenKey } from "../../names";
import { words } from "../../texts";

/** The number of results shown of one check. */
const SHOWN = 20;

export const CheckHistory = ({ node, asOf }: { node: string; asOf?: string | undefined }) => {
  const query = useAnswer<Envelope<CheckResults>>(apiPath("check-results", { node, as_of: asOf, limit: 500 }));
  const found = query.answer?.data.checks;
  const stopped = query.answer?.completeness?.stopped_by;
  if (found?.length === 0 && !stopped) return null;
  const checks = [...Map.groupBy(found ?? [], nameOf)].sort(([one], [other]) => one.localeCompare(other));
  return (
    <Section title={words.node.checkHistory} count={checks.length}>
      <Awaited of={query} />
      {stopped === "access" && <p className="quiet">{words.node.noAccess}</p>}
      {checks.length > 0 && (
        <table className="table plain stacks">
          <thead>
            <tr>
              <th scope="col">{words.node.check}</th>
              <th scope="col">{words.node.latestResult}</th>
              <th scope="col">{words.node.results}</th>
            </tr>
          </thead>
          <tbody>
            {checks.map(([name, results]) => (
              <tr key={name}>
                <th scope="row" className="mono breaks">
                  {name}
                </th>
                <td>
                  <Latest one={results[0]!} />
                </td>
                <td>
                  <Results of={results.slice(0, SHOWN)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {stopped && stopped !== "access" && <p className="quiet">{words.explorer.stoppedBy[stopped] ?? stopped}</p>}
    </Section>
  );
};

const nameOf = (one: CheckResult) => [one.column, one.assertion].filter(Boolean).join(".");

const outcomeOf = (one: CheckResult) => (one.held ? "held" : one.severity === "warn" ? "warned" : "failed");

const Latest = ({ one }: { one: CheckResult }) => (
  <>
    <span className={`outcome-${outcomeOf(one)}`}>{words.node.outcomes[outcomeOf(one)]}</span> ·{" "}
    <When time={one.time} />
    <Details one={one} />
  </>
);

const Details = ({ one }: { one: CheckResult }) => {
  const parts = [
    one.expected !== null && words.node.expected(one.expected),
    one.actual !== null && words.node.found(one.actual),
    one.failures !== null && words.node.failures(one.failures),
  ].filter((part) => part !== false);
  return parts.length ? <div className="quiet breaks">{parts.join(", ")}</div> : null;
};

const Results = ({ of }: { of: readonly CheckResult[] }) => (
  <ol className="check-results">
    {of.map((one, place) => (
      <li key={`${one.time} ${one.run} ${place}`}>
        <Result one={one} />
      </li>
    ))}
  </ol>
);

const Result = ({ one }: { one: CheckResult }) => {
  const text = words.node.resultOf(words.node.outcomes[outcomeOf(one)], exact(one.time));
  const shown = { className: `check-result ${outcomeOf(one)}`, title: text };
  return one.run === null || isHiddenKey(runId(one.run)) ? (
    <span {...shown} role="img" aria-label={text} />
  ) : (
    <Go to={pageAddress("run", { run: runId(one.run) })} {...shown} aria-label={text}>
      {""}
    </Go>
  );
};
