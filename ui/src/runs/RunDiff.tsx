// Changes from one run of a job to another: results, and the reports of the runs.

import { type ReactNode } from "react";
import {
  apiPath,
  entryPath,
  useAnswer,
  useAnswers,
  type Change,
  type Diff,
  type Envelope,
  type ReceivedEvent,
  type Run,
} from "../api";
import { go, pageAddress } from "../address";
import { ChangesView } from "../explorer/panels/TimePanel";
import { parseName } from "../names";
import { Awaited, exact, RunLink, runId, shortRunId, State, Took } from "../components/elements";
import { words } from "../texts";
import { changedColumns, comparedLines, reportedBy, type ColumnChange, type Reported } from "./compare";

const OTHERS = 50;
const MOST_EVENTS = 1_000;
/** The most events of one run; the latest are sufficient. */
const READ = 8;

/** The other runs of its job, and a choice of which to compare with. */
export const Compared = ({ run, versus }: { run: Run; versus: string | undefined }) => {
  const { namespace, name } = parseName(run.job);
  const query = useAnswer<{ data: Run[] }>(`${entryPath("jobs", namespace, name, "/runs")}?limit=${OTHERS}`);
  const others = query.answer?.data.filter((one) => one.run !== run.run) ?? [];
  const before = others.find((one) => runId(one.run) === versus);
  if (!others.length) return null;
  const choose = (other: string) =>
    go(pageAddress("run", { run: runId(run.run), ...(other ? { vs: other } : {}) }), "replace");
  return (
    <section className="section run-diff" id="compare">
      <div className="section-head">
        <h2>{words.runs.changed}</h2>
        <label>
          {words.runs.compareWith}{" "}
          <select className="input" value={before ? versus : ""} onChange={(event) => choose(event.target.value)}>
            <option value="">{words.runs.choose}</option>
            {others.map((one) => (
              <option key={one.run} value={runId(one.run)}>
                {`${exact(one.started_at ?? one.last_seen ?? "1970").slice(0, 19)} · ${words.states[one.state] ?? one.state} · ${shortRunId(one.run)}`}
              </option>
            ))}
          </select>
        </label>
      </div>
      {before ? <Differences before={before} after={run} /> : <p className="quiet">{words.runs.chooseOne}</p>}
    </section>
  );
};

const Differences = ({ before, after }: { before: Run; after: Run }) => {
  const edges = useAnswer<Envelope<Diff>>(apiPath("diff", { before: before.run, after: after.run, limit: 500 }));
  const [then, now] = [useReported(before), useReported(after)];
  return (
    <>
      <Facts before={before} after={after} then={then} now={now} />
      <Part title={words.runs.lineage}>
        <Awaited of={edges} />
        {edges.answer && <Edges changes={edges.answer.data.changes} />}
      </Part>
      <Part title={words.node.schema}>
        {then && now ? <Columns then={then} now={now} /> : <Awaited of={{ waiting: true }} />}
      </Part>
      <Part title={words.node.sql}>
        {then && now ? <Sql before={then.sql} after={now.sql} /> : <Awaited of={{ waiting: true }} />}
      </Part>
    </>
  );
};

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <>
    <h3>{title}</h3>
    {children}
  </>
);

interface FactsProps {
  before: Run;
  after: Run;
  then: Reported | undefined;
  now: Reported | undefined;
}

const Facts = ({ before, after, then, now }: FactsProps) => {
  const outputs = [...new Set([...(then?.rows.keys() ?? []), ...(now?.rows.keys() ?? [])])];
  const count = (of: Reported | undefined, output: string) => of?.rows.get(output)?.toLocaleString("en") ?? "–";
  const rows: [string, ReactNode, ReactNode][] = [
    [words.node.state, <State state={before.state} />, <State state={after.state} />],
    [words.node.started, ...both(before, after, ({ started_at }) => (started_at ? exact(started_at) : "–"))],
    [words.node.took, ...both(before, after, (one) => <Took from={one.started_at} to={one.ended_at} />)],
    [words.runs.reads, ...both(before, after, ({ inputs }) => words.runs.datasets(inputs.length))],
    ...outputs.map((output): [string, ReactNode, ReactNode] => [
      words.runs.rowsOf(
        output
          .slice(output.lastIndexOf("/") + 1)
          .split(" ")
          .at(-1) ?? output,
      ),
      count(then, output),
      count(now, output),
    ]),
    [words.node.commit, then?.commit?.slice(0, 10) ?? "–", now?.commit?.slice(0, 10) ?? "–"],
    [words.node.error, ...both(before, after, ({ error }) => error?.slice(0, 200) ?? "–")],
  ];
  return (
    <table className="table plain fixed">
      <thead>
        <tr>
          <td />
          <th scope="col">
            <RunLink run={before.run} />
          </th>
          <th scope="col">
            <RunLink run={after.run} />
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, old, young]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className="breaks">{old}</td>
            <td className="breaks">{young}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};

const both = (before: Run, after: Run, of: (run: Run) => ReactNode): [ReactNode, ReactNode] => [of(before), of(after)];

const Edges = ({ changes }: { changes: readonly Change[] }) => {
  const edges = changes.filter((one) => one.what === "edge");
  return edges.length ? <ChangesView changes={edges} most={40} /> : <p className="quiet">{words.runs.sameLineage}</p>;
};

const Columns = ({ then, now }: { then: Reported; now: Reported }) => {
  if (!then.schemas.size || !now.schemas.size) return <p className="quiet">{words.runs.noSchema}</p>;
  const changed = changedColumns(then, now);
  if (!changed.length) return <p className="quiet">{words.runs.sameSchema}</p>;
  return (
    <ul className="changes">
      {changed.map((one) => (
        <li key={`${one.dataset} ${one.column}`} className={`fate-${fateOf(one)}`}>
          {one.before !== undefined && one.after !== undefined
            ? words.boards.retyped(one.column, one.before, one.after)
            : one.column}
        </li>
      ))}
    </ul>
  );
};

const fateOf = ({ before, after }: ColumnChange): string =>
  before === undefined ? "added" : after === undefined ? "removed" : "changed";

const Sql = ({ before, after }: { before: string | undefined; after: string | undefined }) => {
  if (before === undefined && after === undefined) return <p className="quiet">{words.runs.noSql}</p>;
  if (before === after) return <p className="quiet">{words.runs.sameSql}</p>;
  return (
    <>
      {(before === undefined || after === undefined) && <p className="quiet">{words.runs.oneSql}</p>}
      <pre className="text-diff" tabIndex={0}>
        {comparedLines(before ?? "", after ?? "").map(({ sign, text }, at) => (
          <span key={at} className={sign === "+" ? "fate-added" : sign === "-" ? "fate-removed" : undefined}>
            {`${sign} ${text}\n`}
          </span>
        ))}
      </pre>
    </>
  );
};

/** The content of the events of a run; undefined while they are loaded. */
const useReported = (run: Run): Reported | undefined => {
  const { namespace } = parseName(run.job);
  const until = run.last_seen && new Date(Date.parse(run.last_seen) + 1_000).toISOString();
  const list = useAnswer<{ data: ReceivedEvent[] }>(
    apiPath("events", { namespace, after: run.first_seen, before: until, limit: MOST_EVENTS }),
  );
  const own = list.answer?.data.filter((one) => one.subject === run.run && one.job === run.job).slice(0, READ) ?? [];
  const events = useAnswers<{ data: { payload?: unknown } }>(own.map((one) => apiPath(`events/${one.event}`)));
  if (list.waiting || events.some((one) => one.waiting)) return undefined;
  // The list has the newest first.
  return reportedBy(events.flatMap((one) => one.answer?.data.payload ?? []).reverse());
};
