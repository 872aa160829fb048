// The tooltip of a line: its jobs and transformations.

import { useState } from "react";
import { writersOf, type Line } from "../../graph/model";
import { shortName } from "../../names";
import { words } from "../../texts";

export interface Tip {
  line: Line;
  /** On the page. */
  x: number;
  y: number;
}

/** `show` shows or hides it. It is separate from the graph, so that a pointer movement redraws nothing else. */
export const LineTip = ({ show }: { show: React.RefObject<((tip: Tip | undefined) => void) | undefined> }) => {
  const [tip, setTip] = useState<Tip>();
  show.current = setTip;
  if (!tip) return null;
  const jobs = writersOf(tip.line).map(shortName);
  return (
    <div className="line-tip" aria-hidden="true" style={{ left: tip.x, top: tip.y }}>
      {jobs.length > 0 && <strong>{jobs.join(", ")}</strong>}
      <span>{words.flows[tip.line.flow]}</span>
    </div>
  );
};
