// What is not there: no such page, or no node of that name; with the names nearest to it, each once.

import { isNodeId, parseName, shortName } from "../names";
import { Go, NodeLink } from "../parts/bits";
import { words } from "../words";

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
  /** What was asked for, if it was a name. */
  asked?: string;
  candidates?: readonly string[];
  title?: string;
}

export const NotFound = ({ asked, candidates = [], title = words.problem.unknown }: Props) => {
  const isId = asked !== undefined && isNodeId(asked);
  const near = candidates.filter((one) => !isId || isNear(shortName(asked), shortName(one))).slice(0, MOST);
  return (
    <div className="trouble" role="alert">
      <h1>{title}</h1>
      {asked !== undefined && (
        <p>
          {isId ? words.problem.noNode(words.kinds[parseName(asked).kind] ?? "") : words.problem.noId}{" "}
          <code className="breaks">{asked}</code>
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
