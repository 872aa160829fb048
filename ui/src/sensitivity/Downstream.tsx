// Where the sensitive data of a dataset or column goes: a list, and the same as CSV.

import { useState } from "react";
import { shortName } from "../names";
import { Awaited, NodeLink } from "../components/elements";
import { MarkView } from "../explorer/lens";
import { words } from "../texts";
import { gradeMark } from "./grades";
import { sensitivityPath, useSensitivity } from "./labels";

const SHOWN = 50;
/** The category of data that no tag marks. */
const UNTAGGED = "untagged";

export const Downstream = ({ node, asOf }: { node: string; asOf?: string }) => {
  const query = useSensitivity(node, "downstream", asOf);
  const [isWhole, setWhole] = useState(false);
  const found = query.answer?.data;
  const isUntagged = found?.labels.some((one) => one.category === UNTAGGED);
  const shown = found?.labels.slice(0, isWhole ? undefined : SHOWN) ?? [];
  return (
    <>
      <Awaited of={query} lines={4} />
      {found && !found.labels.length && <p className="quiet">{words.labels.nowhere}</p>}
      {found && found.labels.length > 0 && (
        <>
          {isUntagged && <p className="quiet">{words.labels.untagged}</p>}
          <p className="export">
            <a
              className="button"
              href={sensitivityPath(node, "downstream", asOf, "csv")}
              download={`sensitive-${shortName(node)}.csv`}
            >
              {words.labels.csv}
            </a>
          </p>
          <ul className="affected" aria-label={words.labels.downstream}>
            {shown.map((one) => (
              <li key={one.category + one.node}>
                <NodeLink id={one.node} lineage />
                <span className="affected-more">
                  {one.category !== UNTAGGED && (
                    <span className="quiet">{words.labels.categories[one.category] ?? one.category}</span>
                  )}
                  <MarkView mark={gradeMark(one.grade, one.assumed)} className="list-mark" />
                </span>
              </li>
            ))}
          </ul>
          {found.labels.length > shown.length && (
            <button type="button" className="button small" onClick={() => setWhole(true)}>
              {words.labels.more(found.labels.length - shown.length)}
            </button>
          )}
        </>
      )}
      {query.answer?.completeness?.complete === false && <p className="note">{words.labels.incomplete}</p>}
    </>
  );
};
