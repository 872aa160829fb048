// A number, how it is counted, and where the list behind it is.

import type { ReactNode } from "react";
import { Go, Icon } from "../parts/bits";
import { words } from "../words";

interface Props {
  name: string;
  formula: string;
  value: ReactNode;
  note?: ReactNode;
  isBad?: boolean;
  to?: string;
  children?: ReactNode;
}

export const Tile = ({ name, formula, value, note, isBad, to, children }: Props) => (
  <section className={isBad ? "metric metric-bad" : "metric"} aria-label={name}>
    <h2>
      {isBad && <span className="metric-mark" aria-hidden="true" />}
      {name}
    </h2>
    <p className="metric-value">{value}</p>
    {note && <p className="metric-note">{note}</p>}
    {children}
    <details className="metric-formula">
      <summary>{words.boards.formula}</summary>
      <p>{formula}</p>
    </details>
    {to && (
      <Go to={to} className="link-button metric-link" label={`${words.boards.list}: ${name}`}>
        {words.boards.list}
        <Icon name="right" size={13} />
      </Go>
    )}
  </section>
);

/** How much of all, beside the number that says it. */
export const Bar = ({ share }: { share: number }) => (
  <span className="bar" aria-hidden="true">
    <span style={{ inlineSize: `${100 * share}%` }} />
  </span>
);
