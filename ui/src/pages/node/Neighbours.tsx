// The nodes one hop upstream or downstream, as a table.

import { asked, useAnswer, type Edge, type Envelope, type Lineage } from "../../api";
import { useTraits } from "../../facts/traits";
import { Awaited, NodeLink, State, When } from "../../parts/bits";
import { Section } from "../../parts/Section";
import { words } from "../../words";

const MOST = 50;

interface NeighboursProps {
  node: string;
  side: "upstream" | "downstream";
  title: string;
  /** Of a dataset: how each neighbour is connected, and by which job. */
  hasJobs: boolean;
}

export const Neighbours = ({ node, side, title, hasJobs }: NeighboursProps) => {
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
