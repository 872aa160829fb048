// One run: its inputs and outputs, its result, and the runs that wrote its inputs.

import { apiPath, useAnswer, type Envelope, type Run } from "../api";
import { lineageAddress } from "../address";
import { useTraits } from "../facts/traits";
import { isHidden, shortName } from "../names";
import { Awaited, exact, Glyph, Go, Icon, NodeLink, RunLink, State, Took, When } from "../components/elements";
import { Compared } from "../runs/RunDiff";
import { words } from "../texts";
import { Facets, Section } from "../components/Section";

interface RunLineage {
  runs: {
    run: string;
    job: string;
    depth: number;
    state: string;
    began_at: string | null;
    ended_at: string | null;
    commit: { version: string; url: string } | null;
  }[];
}

/** Up to this number of inputs and outputs have icons of their type. */
const MOST_TYPED = 100;

export const RunPage = ({ run, versus }: { run: string; versus: string | undefined }) => {
  const query = useAnswer<{ data: Run[] }>(`../api/v2/runs/${encodeURIComponent(run)}`);
  return (
    <div className="page">
      <Awaited of={query} lines={6} />
      {query.answer?.data.map((one) => (
        <OneRun key={one.job} run={one} versus={versus} />
      ))}
      {query.answer && <Before run={run} />}
    </div>
  );
};

const OneRun = ({ run, versus }: { run: Run; versus: string | undefined }) => {
  const error = run.error;
  useTraits([...run.inputs, ...run.outputs].slice(0, MOST_TYPED).map((one) => one.dataset));
  return (
    <>
      <header className="page-head">
        <Glyph type="run" />
        <div>
          <h1>
            {shortName(run.job)} <State state={run.state} />
          </h1>
          <p className="mono">{run.run.replace(/^run:/, "")}</p>
        </div>
        <Go to={lineageAddress(run.job)} className="button primary">
          <Icon name="graph" />
          {words.node.lineage}
        </Go>
      </header>
      <div className="page-columns">
        <div>
          {error !== null && (
            <Section title={words.node.error}>
              <pre className="run-error" tabIndex={0}>
                {error}
              </pre>
            </Section>
          )}
          {!isHidden(run.job) && <Compared run={run} versus={versus} />}
          <Section title={words.node.inputs} count={run.inputs.length}>
            <ul className="affected">
              {run.inputs.map((one) => (
                <li key={one.dataset}>
                  <NodeLink id={one.dataset} />
                </li>
              ))}
            </ul>
          </Section>
          <Section title={words.node.outputs} count={run.outputs.length}>
            <ul className="affected">
              {run.outputs.map((one) => (
                <li key={one.dataset}>
                  <NodeLink id={one.dataset} />
                </li>
              ))}
            </ul>
          </Section>
        </div>
        <aside>
          <dl className="facts">
            <dt>{words.node.job}</dt>
            <dd>
              <NodeLink id={run.job} />
            </dd>
            <dt>{words.node.started}</dt>
            <dd>{run.started_at ? exact(run.started_at) : "–"}</dd>
            <dt>{words.node.took}</dt>
            <dd>
              <Took from={run.started_at} to={run.ended_at} />
            </dd>
            <dt>{words.node.lastSeen}</dt>
            <dd>
              <When time={run.last_seen} />
            </dd>
            {run.parent && (
              <>
                <dt>{words.node.parent}</dt>
                <dd>
                  <NodeLink id={run.parent.job} /> <RunLink run={run.parent.run} />
                </dd>
              </>
            )}
          </dl>
          <Facets facets={run.facets} />
        </aside>
      </div>
    </>
  );
};

const Before = ({ run }: { run: string }) => {
  const query = useAnswer<Envelope<RunLineage>>(apiPath(`runs/${encodeURIComponent(run)}/lineage`, { limit: 50 }));
  const before = query.answer?.data.runs.filter((one) => one.depth > 0) ?? [];
  if (!before.length) return null;
  return (
    <Section title={words.node.runLineage} count={before.length}>
      <table className="table plain stacks">
        <thead>
          <tr>
            {[
              words.node.state,
              words.node.job,
              words.node.run,
              words.node.started,
              words.node.took,
              words.node.commit,
            ].map((one) => (
              <th key={one} scope="col">
                {one}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {before.map((one) => (
            <tr key={one.run + one.job}>
              <td>
                <State state={one.state} />
              </td>
              <th scope="row">
                <NodeLink id={one.job} />
              </th>
              <td>
                <RunLink run={one.run} />
              </td>
              <td data-label={words.node.started}>
                <When time={one.began_at} />
              </td>
              <td data-label={words.node.took}>
                <Took from={one.began_at} to={one.ended_at} />
              </td>
              <td className="mono" data-label={one.commit ? words.node.commit : undefined}>
                {one.commit?.version}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
};
