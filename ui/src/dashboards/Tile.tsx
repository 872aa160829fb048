// A number with its definition and a link to its list.

import type { ReactNode } from "react";
import { Go, Icon } from "../components/elements";
import { words } from "../texts";

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

/** A bar for the share, beside its number. */
export const Bar = ({ share }: { share: number }) => (
  <span className="bar" aria-hidden="true">
    <span style={{ inlineSize: `${100 * share}%` }} />
  </span>
);
