// The legend of the lines, marks and colours that the graph contains.

import { words } from "../texts";
import type { Seen } from "./answers";
import { MarkView, type Lensed } from "./lens";

const FLOWS = ["direct", "indirect", "inferred"] as const;
const FATES = ["added", "connected", "changed", "disconnected", "removed"] as const;

export const Legend = ({ seen, lensed }: { seen: Seen; lensed: Lensed }) => (
  <div className="legend">
    {lensed.legend.length > 0 && (
      <ul aria-label={words.lenses.title}>
        {lensed.legend.map(({ mark, count }) => (
          <li key={mark.icon + mark.text}>
            <MarkView mark={mark} className="legend-mark" />
            <b>{count}</b>
          </li>
        ))}
      </ul>
    )}
    <ul aria-label={words.explorer.legend}>
      {FLOWS.filter((flow) => seen.picture.lines.some((one) => one.flow === flow)).map((flow) => (
        <li key={flow}>
          <svg width="30" height="6" aria-hidden="true">
            <path d="M0 3h30" className={`line flow-${flow}`} />
          </svg>
          {words.flows[flow]}
        </li>
      ))}
      {FATES.filter((fate) => [...seen.picture.boxes, ...seen.picture.lines].some((one) => one.fate === fate)).map(
        (fate) => (
          <li key={fate}>
            <span className={`swatch fate-${fate}`} />
            {words.fates[fate]}
          </li>
        ),
      )}
    </ul>
  </div>
);
