// The nodes one hop upstream or downstream, as a table.

import { apiPath, useAnswer, type Edge, type Envelope, type Lineage } from "../../api";
import { useTraits } from "../../facts/traits";
import { JobsBelow } from "../../components/JobsBelow";
import { Awaited, NodeLink, State, When } from "../../components/elements";
import { Section } from "../../components/Section";
import { words } from "../../texts";

const MOST = 50;

interface NeighboursProps {
  node: string;
  side: "upstream" | "downstream";
  title: string;
  /** Of a dataset: how each neighbour is connected, and by which job. */
  hasJobs: boolean;
}

export const Neighbours = ({ node, side, title, hasJobs }: NeighboursProps) => {
  const query = useAnswer<Envelope<Lineage>>(apiPath(`lineage/${side}`, { node, depth: 1, limit: MOST + 1 }));
  const { nodes = [], edges = [] } = query.answer?.data ?? {};
  const near = nodes.filter((one) => one.depth > 0);
  useTraits(near.map((one) => one.node));
  const total = (query.answer?.page?.total ?? 1) - 1;
  const heads = [words.list.name, ...(hasJobs ? [words.node.how, words.node.by] : []), words.list.run];
  return (
    <Section title={title} count={query.answer ? total : undefined}>
      <Awaited of={query} />
      {query.answer && !near.length && (
        <p className="quiet">
          {words.node.none} {!hasJobs && <JobsBelow job={node} />}
        </p>
      )}
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
  const run = edge?.evidence.flatMap((evidence) => evidence.runs)[0];
  // A job that only reads reports no columns, and is the target itself.
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
