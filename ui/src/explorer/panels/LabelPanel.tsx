// Why a column has a label: the way of the data, with the edges that prove it; and where its own data goes.

import { apiPath, useAnswer, type Envelope, type Paths } from "../../api";
import { boxOf, shortName } from "../../names";
import { Awaited, Icon, NodeLink } from "../../components/elements";
import { Downstream } from "../../sensitivity/Downstream";
import { gradeMark, type Category } from "../../sensitivity/grades";
import { useSensitivity } from "../../sensitivity/labels";
import { words } from "../../texts";
import { MarkView } from "../lens";
import { EdgeEvidence } from "./EvidencePanel";
import { Panel } from "./Panel";

interface Props {
  node: string;
  category: Category;
  asOf: string | undefined;
}

export const LabelPanel = ({ node, category, asOf }: Props) => {
  const query = useSensitivity(node, "upstream", asOf);
  const labels = query.answer?.data.labels.filter((one) => one.category === category) ?? [];
  const label = labels.find((one) => one.node === node) ?? labels[0];
  return (
    <Panel title={words.labels.title(words.labels.categories[category] ?? category)} sub={shortName(node)}>
      <Awaited of={query} lines={6} />
      {query.answer && !label && <p className="quiet">{words.labels.noneOf(shortName(node))}</p>}
      {label && (
        <>
          <p>
            <MarkView mark={gradeMark(label.grade, label.assumed)} className="panel-mark" />
          </p>
          <p>{words.labels.means[label.grade]}</p>
          {label.assumed && <p className="note">{words.labels.assumed(words.labels.grades[label.proven] ?? "")}</p>}
          <h3>{words.labels.way}</h3>
          <ol className="label-way">
            {label.path.map((one, at) => (
              <li key={one}>
                <NodeLink id={one} whole />
                {label.path[at + 1] && <Hop source={one} target={label.path[at + 1]!} asOf={asOf} />}
              </li>
            ))}
          </ol>
        </>
      )}
      {query.answer?.completeness?.complete === false && <p className="note">{words.labels.incomplete}</p>}
      <h3>{words.labels.downstream}</h3>
      <Downstream node={node} asOf={asOf} />
    </Panel>
  );
};

/** The edges between two nodes of a way, with what reported them. */
const Hop = ({ source, target, asOf }: { source: string; target: string; asOf: string | undefined }) => {
  const isInside = boxOf(source) === target || boxOf(target) === source;
  const query = useAnswer<Envelope<Paths>>(
    isInside ? null : apiPath("why", { source, target, depth: 1, paths: 1, as_of: asOf }),
  );
  const edges = query.answer?.data.paths[0]?.steps[0]?.edges ?? [];
  return (
    <details className="label-hop">
      <summary>
        <Icon name="down" size={13} />
        {isInside ? words.labels.inside : edges.length ? expressionOf(edges) : words.labels.step}
      </summary>
      <Awaited of={query} lines={2} />
      {edges.map((edge) => (
        <EdgeEvidence key={`${edge.owner} ${edge.source} ${edge.target}`} edge={edge} />
      ))}
    </details>
  );
};

type Edges = Paths["paths"][number]["steps"][number]["edges"];

const expressionOf = (edges: Edges): string => {
  const all = edges.flatMap((edge) => edge.transformations);
  const [first] = all.flatMap((one) => one.description || [one.type, one.subtype].filter(Boolean).join(" · "));
  return first ? first.slice(0, 80) : words.labels.step;
};
