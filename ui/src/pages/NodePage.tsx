// All that is known of a dataset or job, on one page.

import { useEffect, useRef, useState, type ReactNode } from "react";
import {
  asked,
  named,
  useAnswer,
  type Dataset,
  type Edge,
  type Envelope,
  type History,
  type Job,
  type Lineage,
  type Run,
} from "../api";
import { lineageAddress } from "../address";
import { useTraits } from "../explorer/traits";
import { boxOf, fieldId, fullName, isHiddenField, isHiddenKey, parseName, shortName } from "../names";
import {
  Awaited,
  exact,
  Go,
  HiddenColumns,
  Icon,
  NodeGlyph,
  NodeLink,
  runId,
  RunLink,
  State,
  When,
} from "../parts/bits";
import { Runs } from "../parts/Runs";
import { Durations } from "../runs/Durations";
import { WhereView } from "../parts/where";
import { VersionView } from "../explorer/TimePanel";
import { Description, Owners, TagsEditor, Trust } from "../facts/editors";
import { useMay } from "../session";
import { NotFound } from "./NotFound";
import { words } from "../words";

const MOST = 50;

export const NodePage = ({ node }: { node: string }) => {
  const box = boxOf(node);
  const { kind, namespace, name } = parseName(box);
  const told = useAnswer<{ data: Dataset | Job }>(named(kind === "job" ? "jobs" : "datasets", namespace, name));
  const one = told.answer?.data;
  const isUnknown = told.problem?.status === 404;
  const mayEdit = useMay("steward", namespace);
  if (isUnknown) return <NotFound asked={box} candidates={told.problem?.candidates} />;
  return (
    <div className="page">
      <header className="page-head">
        <NodeGlyph id={box} />
        <div>
          <h1>
            {shortName(box)}
            {one?.deleted && <span className="chip chip-bad">{words.node.deleted}</span>}
          </h1>
          <p title={fullName(box)}>
            <WhereView id={box} />
          </p>
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
            {"fields" in one && <Schema dataset={one} mayEdit={mayEdit} marked={parseName(node).field} />}
            {"latest_runs" in one && <JobParts job={one} />}
            <Neighbours
              node={box}
              side="upstream"
              title={kind === "job" ? words.node.inputs : words.node.upstream}
              hasJobs={kind !== "job"}
            />
            <Neighbours
              node={box}
              side="downstream"
              title={kind === "job" ? words.node.outputs : words.node.downstream}
              hasJobs={kind !== "job"}
            />
            <HistoryOf node={box} />
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
              {"last_write" in one && one.last_write && <LastWrite of={one.last_write} node={box} />}
              {kind === "dataset" && <Checks node={box} />}
              <dt>{words.node.nodeId}</dt>
              <dd className="mono breaks">{one.node}</dd>
            </dl>
            <Facets facets={one.facets} />
          </aside>
        </div>
      )}
    </div>
  );
};

/** The run that last wrote a dataset, and how many rows it reported. */
const LastWrite = ({ of, node }: { of: NonNullable<Dataset["last_write"]>; node: string }) => {
  const run = runId(of.run);
  const told = useAnswer<{ data: Run[] }>(isHiddenKey(run) ? null : `../api/v2/runs/${encodeURIComponent(run)}`);
  const written = told.answer?.data.flatMap((run) => run.outputs).find((one) => one.dataset === node);
  const rows = (written?.facets["outputStatistics"] as { rowCount?: unknown } | undefined)?.rowCount;
  return (
    <>
      <dt>{words.node.lastWrite}</dt>
      <dd>
        <When time={of.time} /> · <RunLink run={of.run} />
      </dd>
      {typeof rows === "number" && (
        <>
          <dt>{words.node.rows}</dt>
          <dd>{rows.toLocaleString("en")}</dd>
        </>
      )}
    </>
  );
};

/** The latest quality checks, and how the latest run ended that writes it. */
const Checks = ({ node }: { node: string }) => {
  const known = useTraits([node])?.get(node);
  return (
    <>
      {known?.latest && (
        <>
          <dt>{words.list.run}</dt>
          <dd>
            <State state={known.latest.state} /> · <RunLink run={known.latest.run} />
          </dd>
        </>
      )}
      {known?.quality && (
        <>
          <dt>{words.node.checks}</dt>
          <dd className={known.quality.failed ? "bad" : undefined}>
            {[
              known.quality.failed ? words.lenses.failed(known.quality.failed) : "",
              known.quality.warned ? words.lenses.warned(known.quality.warned) : "",
              known.quality.held ? words.lenses.held(known.quality.held) : "",
            ]
              .filter(Boolean)
              .join(", ")}
          </dd>
        </>
      )}
    </>
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

interface SchemaProps {
  dataset: Dataset;
  mayEdit: boolean;
  /** The column that the address names. */
  marked: string | undefined;
}

const Schema = ({ dataset, mayEdit, marked }: SchemaProps) => {
  const [filter, setFilter] = useState("");
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => row.current?.scrollIntoView({ block: "center" }), [marked]);
  const fields = dataset.fields.filter((one) => !isHiddenField(one.name));
  const fitting = fields.filter((one) => one.name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <Section title={words.node.schema} count={dataset.fields.length}>
      {fields.length > 20 && (
        <input
          className="input"
          value={filter}
          placeholder={words.explorer.findColumn(fields.length)}
          aria-label={words.explorer.findColumn(fields.length)}
          onChange={(event) => setFilter(event.target.value)}
        />
      )}
      <HiddenColumns count={dataset.fields.length - fields.length} />
      {dataset.fields.length === 0 ? (
        <p className="quiet">{words.explorer.noColumns}</p>
      ) : (
        <table className="table plain stacks">
          <thead>
            <tr>
              <th scope="col">{words.node.column}</th>
              <th scope="col">{words.node.type}</th>
              <th scope="col">{words.node.columnDescription}</th>
              <th scope="col">{words.node.tags}</th>
            </tr>
          </thead>
          <tbody>
            {firstWith(fitting, marked, 500).map((one) => (
              <tr
                key={one.name}
                ref={one.name === marked ? row : undefined}
                className={one.name === marked ? "marked" : undefined}
                aria-current={one.name === marked || undefined}
              >
                <th scope="row">
                  <Go to={lineageAddress(fieldId(dataset.node, one.name))} className="mono">
                    {one.name}
                  </Go>
                </th>
                <td className="mono quiet" data-label={one.type && words.node.type}>
                  {one.type}
                </td>
                <td data-label={one.description && words.node.columnDescription}>{one.description}</td>
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

/** The first of them, and the marked one wherever it stands. */
const firstWith = (fields: Dataset["fields"], marked: string | undefined, most: number): Dataset["fields"] =>
  fields.filter((one, at) => at < most || one.name === marked);

const JobParts = ({ job }: { job: Job }) => {
  const sql = (job.facets["sql"] as { query?: unknown } | undefined)?.query;
  const source = job.facets["sourceCodeLocation"] as { url?: unknown; version?: unknown } | undefined;
  const url = typeof source?.url === "string" ? source.url : "";
  return (
    <>
      <Section title={words.node.runs} count={job.latest_runs.length}>
        <Durations runs={job.latest_runs} />
        <Runs runs={job.latest_runs} isWide />
      </Section>
      {typeof sql === "string" && (
        <Section title={words.node.sql}>
          {job.sql?.status === "unrelated" && (
            <p className="warn">{words.node.unrelatedSql((job.sql.problems ?? []).join("; "))}</p>
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

interface NeighboursProps {
  node: string;
  side: "upstream" | "downstream";
  title: string;
  /** Of a dataset: how each neighbour is connected, and by which job. */
  hasJobs: boolean;
}

const Neighbours = ({ node, side, title, hasJobs }: NeighboursProps) => {
  const told = useAnswer<Envelope<Lineage>>(asked(`lineage/${side}`, { node, depth: 1, limit: MOST + 1 }));
  const { nodes = [], edges = [] } = told.answer?.data ?? {};
  const near = nodes.filter((one) => one.depth > 0);
  useTraits(near.map((one) => one.node));
  const total = (told.answer?.page?.total ?? 1) - 1;
  const heads = [words.list.name, ...(hasJobs ? [words.node.how, words.node.by] : []), words.list.run];
  return (
    <Section title={title} count={told.answer ? total : undefined}>
      <Awaited of={told} />
      {told.answer && !near.length && <p className="quiet">{words.node.none}</p>}
      {near.length > 0 && (
        <table className={`table plain fixed stacks neighbours ${hasJobs ? "with-jobs" : ""}`}>
          <thead>
            <tr>
              {heads.map((one) => (
                <th key={one} scope="col">
                  {one}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {near.map((one) => (
              <Neighbour
                key={one.node}
                node={one.node}
                edge={one.edge === null ? undefined : edges[one.edge]}
                hasJobs={hasJobs}
              />
            ))}
          </tbody>
        </table>
      )}
      {total > near.length && <p className="quiet">{words.node.moreRows(total - near.length)}</p>}
    </Section>
  );
};

const Neighbour = ({ node, edge, hasJobs }: { node: string; edge: Edge | undefined; hasJobs: boolean }) => {
  const run = edge?.evidence.flatMap((said) => said.runs)[0];
  // A job that only reads says nothing of columns, and is itself what it reads for.
  const isReader = edge !== undefined && edge.owner === node;
  const how = isReader
    ? words.node.reads
    : edge?.inferred
      ? words.shortFlows["inferred"]
      : [...new Set(edge?.transformations.map((one) => one.type.toLowerCase()))].join(", ");
  return (
    <tr>
      <th scope="row">
        <NodeLink id={node} />
      </th>
      {hasJobs && <td data-label={words.node.how}>{how}</td>}
      {hasJobs && <td data-label={words.node.by}>{edge && !isReader && <NodeLink id={edge.owner} />}</td>}
      <td data-label={words.list.run}>
        {run && (
          <>
            <State state={run.state} quiet /> <When time={run.ended_at ?? run.said_at} />
          </>
        )}
      </td>
    </tr>
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
