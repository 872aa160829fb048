// A part of a page with its title, and the facets of a node or run as one.

import type { ReactNode } from "react";
import { words } from "../texts";

export const Section = ({ title, count, children }: { title: string; count?: number; children: ReactNode }) => (
  <section className="section">
    <h2>
      {title}
      {count !== undefined && <span className="count">{count.toLocaleString("en")}</span>}
    </h2>
    {children}
  </section>
);

export const Facets = ({ facets }: { facets: Record<string, unknown> }) => {
  const all = Object.entries(facets).sort(([a], [b]) => a.localeCompare(b));
  if (!all.length) return null;
  return (
    <Section title={words.node.facets} count={all.length}>
      {all.map(([name, facet]) => (
        <details key={name} className="facet-view">
          <summary className="mono">{name}</summary>
          <pre tabIndex={0}>{JSON.stringify(facet, null, 2)}</pre>
        </details>
      ))}
    </Section>
  );
};
