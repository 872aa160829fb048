// No such page, or no node of that name; with the most similar names.

import { isNodeId, parseName, shortName } from "../names";
import { Go, NodeLink } from "../components/elements";
import { words } from "../texts";

const MOST = 5;

const trigrams = (text: string): Set<string> =>
  new Set(Array.from({ length: Math.max(1, text.length - 2) }, (_, at) => text.toLowerCase().slice(at, at + 3)));

/** Whether two names have so many parts in common that one may be meant by the other. */
const isNear = (one: string, other: string): boolean => {
  const [a, b] = [trigrams(one), trigrams(other)];
  const shared = [...a].filter((part) => b.has(part)).length;
  return shared >= 0.4 * Math.min(a.size, b.size);
};

interface Props {
  /** The requested name, if it was one. */
  requested?: string;
  candidates?: readonly string[];
  title?: string;
}

export const NotFound = ({ requested, candidates = [], title = words.problem.unknown }: Props) => {
  const isId = requested !== undefined && isNodeId(requested);
  const near = candidates.filter((one) => !isId || isNear(shortName(requested), shortName(one))).slice(0, MOST);
  return (
    <div className="trouble" role="alert">
      <h1>{title}</h1>
      {requested !== undefined && (
        <p>
          {isId ? words.problem.noNode(words.kinds[parseName(requested).kind] ?? "") : words.problem.noId}{" "}
          <code className="breaks">{requested}</code>
        </p>
      )}
      {near.length > 0 && (
        <>
          <p>{words.problem.meant}</p>
          <ul>
            {near.map((id) => (
              <li key={id}>
                <NodeLink id={id} lineage />
              </li>
            ))}
          </ul>
        </>
      )}
      <p className="trouble-ways">
        <Go to="./" className="button">
          {words.problem.home}
        </Go>
        <span className="quiet">{words.problem.search}</span>
      </p>
    </div>
  );
};
