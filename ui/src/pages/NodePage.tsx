// All that is known of a dataset or job, on one page.

import { useState, type ReactNode } from "react";
import { asked, named, useAnswer, type Dataset, type Envelope, type History, type Job, type Lineage } from "../api";
import { lineageAddress } from "../address";
import { boxOf, fieldId, parseName, place, shortName } from "../names";
import { Awaited, exact, Glyph, Go, Icon, NodeLink, RunLink, State, When } from "../parts/bits";
import { Runs } from "../parts/Runs";
import { VersionView } from "../explorer/TimePanel";
import { Description, Owners, TagsEditor, Trust } from "../facts/editors";
import { useMay } from "../session";
import { words } from "../words";

const MOST = 50;

export const NodePage = ({ node }: { node: string }) => {
  const box = boxOf(node);
  const { kind, namespace, name } = parseName(box);
  const told = useAnswer<{ data: Dataset | Job }>(named(kind === "job" ? "jobs" : "datasets", namespace, name));
  const one = told.answer?.data;
  const mayEdit = useMay("steward", namespace);
  return (
    <div className="page">
      <header className="page-head">
        <Glyph kind={kind} />
        <div>
          <h1>
            {shortName(box)}
            {one?.deleted && <span className="chip chip-bad">{words.node.deleted}</span>}
          </h1>
          <p>{place(box)}</p>
        </div>
        <Go to={lineageAddress(node)} className="button primary">
          <Icon name="graph" />
          {words.node.lineage}
        </Go>
      </header>
      <Awaited of={told} lines={8} />
      {one && (
        <div className="page-columns">
          <div>
            <Section title={words.node.description}>
              <Description node={one.node} facts={one} mayEdit={mayEdit} />
            </Section>
            {"fields" in one && <Schema dataset={one} mayEdit={mayEdit} />}
            {"latest_runs" in one && <JobParts job={one} />}
            <Neighbours node={box} side="upstream" title={words.node.upstream} />
            <Neighbours node={box} side="downstream" title={words.node.downstream} />
          </div>
          <aside>
            <Section title={words.node.owners}>
              <Owners node={one.node} facts={one} mayEdit={mayEdit} />
            </Section>
            <Section title={words.node.tags}>
              <TagsEditor node={one.node} facts={one} mayEdit={mayEdit} />
            </Section>
            <Section title={words.edit.trust}>
              <Trust node={one.node} facts={one} mayEdit={mayEdit} />
            </Section>
            <dl className="facts">
              <dt>{words.node.namespace}</dt>
              <dd className="mono breaks">{one.namespace}</dd>
              <dt>{words.node.firstSeen}</dt>
              <dd title={exact(one.first_seen)}>
                <When time={one.first_seen} />
              </dd>
              <dt>{words.node.lastSeen}</dt>
              <dd title={exact(one.last_seen)}>
                <When time={one.last_seen} />
              </dd>
              {"last_write" in one && one.last_write && (
                <>
                  <dt>{words.node.lastWrite}</dt>
                  <dd>
                    <When time={one.last_write.time} /> · <RunLink run={one.last_write.run} />
                  </dd>
                </>
              )}
              <dt>{words.node.nodeId}</dt>
              <dd className="mono breaks">{one.node}</dd>
            </dl>
            <HistoryOf node={box} />
            <Facets facets={one.facets} />
          </aside>
        </div>
      )}
    </div>
  );
};

export const Section = ({ title, count, children }: { title: string; count?: number; children: ReactNode }) => (
  <section className="section">
    <h2>
      {title}
      {count !== undefined && <span className="count">{count.toLocaleString("en")}</span>}
    </h2>
    {children}
  </section>
);

const Schema = ({ dataset, mayEdit }: { dataset: Dataset; mayEdit: boolean }) => {
  const [filter, setFilter] = useState("");
  const { fields } = dataset;
  const fitting = fields.filter((one) => one.name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <Section title={words.node.schema} count={fields.length}>
      {fields.length > 20 && (
        <input
          className="input"
          value={filter}
          placeholder={words.explorer.findColumn(fields.length)}
          aria-label={words.explorer.findColumn(fields.length)}
          onChange={(event) => setFilter(event.target.value)}
        />
      )}
      {fields.length === 0 ? (
        <p className="quiet">{words.explorer.noColumns}</p>
      ) : (
        <table className="table plain">
          <thead>
            <tr>
              <th scope="col">{words.node.column}</th>
              <th scope="col">{words.node.type}</th>
              <th scope="col">{words.node.columnDescription}</th>
              <th scope="col">{words.node.tags}</th>
            </tr>
          </thead>
          <tbody>
            {fitting.slice(0, 500).map((one) => (
              <tr key={one.name}>
                <th scope="row">
                  <Go to={lineageAddress(fieldId(dataset.node, one.name))} className="mono">
                    {one.name}
                  </Go>
                </th>
                <td className="mono quiet">{one.type}</td>
                <td>{one.description}</td>
                <td className="cell-tags">
                  <TagsEditor
                    node={dataset.node}
                    facts={dataset}
                    mayEdit={mayEdit}
                    field={one.name}
                    label={words.edit.addTagTo(one.name)}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {fitting.length > 500 && <p className="quiet">{words.explorer.moreColumns(fitting.length - 500)}</p>}
    </Section>
  );
};

const JobParts = ({ job }: { job: Job }) => {
  const sql = (job.facets["sql"] as { query?: unknown } | undefined)?.query;
  const source = job.facets["sourceCodeLocation"] as { url?: unknown; version?: unknown } | undefined;
  const url = typeof source?.url === "string" ? source.url : "";
  return (
    <>
      <Section title={words.node.runs} count={job.latest_runs.length}>
        <Runs runs={job.latest_runs} isWide />
      </Section>
      {typeof sql === "string" && (
        <Section title={words.node.sql}>
          {job.sql?.status === "unrelated" && (
            <p className="warn">{words.node.unrelatedSql(job.sql.problems.join("; "))}</p>
          )}
          <pre tabIndex={0}>{sql}</pre>
        </Section>
      )}
      {url && (
        <Section title={words.node.source}>
          <p className="breaks">
            {/^https?:\/\//.test(url) ? (
              <a href={url} rel="noreferrer noopener" target="_blank">
                {url}
              </a>
            ) : (
              <code>{url}</code>
            )}{" "}
            {typeof source?.version === "string" && <code className="chip">{source.version}</code>}
          </p>
        </Section>
      )}
    </>
  );
};

const Neighbours = ({ node, side, title }: { node: string; side: "upstream" | "downstream"; title: string }) => {
  const told = useAnswer<Envelope<Lineage>>(asked(`lineage/${side}`, { node, depth: 1, limit: MOST + 1 }));
  const { nodes = [], edges = [] } = told.answer?.data ?? {};
  const near = nodes.filter((one) => one.depth > 0);
  const total = (told.answer?.page?.total ?? 1) - 1;
  return (
    <Section title={title} count={told.answer ? total : undefined}>
      <Awaited of={told} />
      {told.answer && !near.length && <p className="quiet">{words.node.none}</p>}
      {near.length > 0 && (
        <table className="table plain">
          <thead>
            <tr>
              <th scope="col">{words.list.name}</th>
              <th scope="col">{words.node.how}</th>
              <th scope="col">{words.node.by}</th>
              <th scope="col">{words.list.run}</th>
            </tr>
          </thead>
          <tbody>
            {near.map((one) => {
              const edge = one.edge === null ? undefined : edges[one.edge];
              const run = edge?.evidence.flatMap((said) => said.runs)[0];
              return (
                <tr key={one.node}>
                  <th scope="row">
                    <NodeLink id={one.node} />
                  </th>
                  <td>
                    {edge?.inferred
                      ? words.shortFlows.inferred
                      : [...new Set(edge?.transformations.map((how) => how.type.toLowerCase()))].join(", ")}
                  </td>
                  <td>{edge && <NodeLink id={edge.owner} />}</td>
                  <td>
                    {run && (
                      <>
                        <State state={run.state} quiet /> <When time={run.ended_at ?? run.said_at} />
                      </>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {total > near.length && <p className="quiet">{words.node.moreRows(total - near.length)}</p>}
    </Section>
  );
};

const HistoryOf = ({ node }: { node: string }) => {
  const told = useAnswer<Envelope<History>>(asked("history", { node, limit: 8 }));
  return (
    <Section title={words.node.history} count={told.answer?.page?.total}>
      <Awaited of={told} />
      {told.answer && (
        <ol className="versions">
          {told.answer.data.versions.map((one, number) => (
            <VersionView key={number} version={one} />
          ))}
        </ol>
      )}
    </Section>
  );
};

export const Facets = ({ facets }: { facets: Record<string, unknown> }) => {
  const all = Object.entries(facets).sort(([a], [b]) => a.localeCompare(b));
  if (!all.length) return null;
  return (
    <Section title={words.node.facets} count={all.length}>
      {all.map(([name, facet]) => (
        <details key={name} className="facet-view">
          <summary className="mono">{name}</summary>
          <pre tabIndex={0}>{JSON.stringify(facet, null, 2)}</pre>
        </details>
      ))}
    </Section>
  );
};
