// What a line under the pointer is: which jobs it comes from, and how values go along it.

import { useState } from "react";
import { writersOf, type Line } from "../../graph/model";
import { shortName } from "../../names";
import { words } from "../../words";

export interface Tip {
  line: Line;
  /** On the page. */
  x: number;
  y: number;
}

/** `tell` is how to show one, or none. It is apart from the graph, so that the pointer draws nothing else anew. */
export const LineTip = ({ tell }: { tell: React.RefObject<((tip: Tip | undefined) => void) | undefined> }) => {
  const [tip, setTip] = useState<Tip>();
  tell.current = setTip;
  if (!tip) return null;
  const jobs = writersOf(tip.line).map(shortName);
  return (
    <div className="line-tip" aria-hidden="true" style={{ left: tip.x, top: tip.y }}>
      {jobs.length > 0 && <strong>{jobs.join(", ")}</strong>}
      <span>{words.flows[tip.line.flow]}</span>
    </div>
  );
};
