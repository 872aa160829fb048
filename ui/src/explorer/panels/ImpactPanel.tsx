// What breaks if a node changes: counted, listed, exported.

import { useState } from "react";
import { apiPath, get, useAnswer, type Envelope, type Impact } from "../../api";
import { type Explored } from "../../address";
import { learnType, shortName } from "../../names";
import { Awaited, NodeLink } from "../../components/elements";
import { words } from "../../texts";
import { impactMarkdown, save } from "../export/files";
import { Panel } from "./Panel";

/** Types as producers write them, in the words of this UI. */
const typeWord = (type: string): string =>
  words.types[type.toLowerCase()] ?? type.charAt(0).toUpperCase() + type.slice(1).toLowerCase().replaceAll("_", " ");

export const ImpactPanel = ({ node, explored }: { node: string; explored: Explored }) => {
  const [filter, setFilter] = useState<{ by: "type" | "owner" | "tier"; value: string }>();
  const [isCopied, setCopied] = useState(false);
  const address = (limit?: number, format?: string) => apiPath("impact", { node, limit, format, as_of: explored.asOf });
  const query = useAnswer<Envelope<Impact>>(address(1_000));
  const impact = query.answer?.data;
  for (const one of impact?.nodes ?? []) learnType(one.node, one.type);
  const shown =
    impact?.nodes.filter(
      (one) =>
        !filter ||
        (filter.by === "owner"
          ? filter.value
            ? one.owners.includes(filter.value)
            : !one.owners.length
          : one[filter.by] === filter.value),
    ) ?? [];
  const whole = () => get<Envelope<Impact>>(address(10_000));
  const chips = (
    by: "type" | "owner" | "tier",
    title: string,
    counts: Record<string, number>,
    none: string,
    shown: (value: string) => string = (value) => value,
  ) => (
    <div className="facet">
      <h3>{title}</h3>
      <p className="chips">
        {Object.entries(counts)
          .sort(([, a], [, b]) => b - a)
          .slice(0, 12)
          .map(([value, count]) => {
            const isOn = filter?.by === by && filter.value === value;
            return (
              <button
                type="button"
                key={value}
                className="chip chip-button"
                aria-pressed={isOn}
                onClick={() => setFilter(isOn ? undefined : { by, value })}
              >
                {value ? shown(value) : none}
                <b>{count.toLocaleString("en")}</b>
              </button>
            );
          })}
      </p>
    </div>
  );
  return (
    <Panel title={words.impact.title} sub={words.impact.of(shortName(node))}>
      <Awaited of={query} lines={6} />
      {impact &&
        (impact.counts.nodes === 0 ? (
          <p className="quiet">{words.impact.none}</p>
        ) : (
          <>
            <div className="big-count">
              <strong>{impact.counts.nodes.toLocaleString("en")}</strong> {words.impact.nodes}
              <span>{words.impact.jobs(impact.counts.jobs)}</span>
            </div>
            {chips("type", words.impact.type, impact.counts.by_type, "", typeWord)}
            {chips("owner", words.impact.owner, impact.counts.by_owner, words.impact.noOwner)}
            {chips("tier", words.impact.tier, impact.counts.by_tier, words.impact.noTier)}
            <div className="export" role="group" aria-label={words.impact.export}>
              <span>{words.impact.export}</span>
              <a className="button" href={address(10_000, "csv")} download={`impact-${shortName(node)}.csv`}>
                {words.impact.csv}
              </a>
              <button
                type="button"
                className="button"
                onClick={() =>
                  void whole().then((all) =>
                    save(`impact-${shortName(node)}.json`, "application/json", JSON.stringify(all, null, 2)),
                  )
                }
              >
                {words.impact.json}
              </button>
              <button
                type="button"
                className="button"
                onClick={() =>
                  void whole().then((all) => {
                    save(`impact-${shortName(node)}.md`, "text/markdown", impactMarkdown(all, window.location.href));
                    setCopied(true);
                  })
                }
              >
                {words.impact.markdown}
                {isCopied ? " ✓" : ""}
              </button>
            </div>
            <ul className="affected">
              {shown.slice(0, words.impact.mostShown).map((one) => (
                <li key={one.node}>
                  <NodeLink id={one.node} lineage />
                  <span className="affected-more">
                    {one.tier && <span className="chip">{words.node.tier(Number(one.tier))}</span>}
                    <span className="quiet">{words.impact.hops(one.distance)}</span>
                  </span>
                </li>
              ))}
            </ul>
            {impact.counts.nodes > Math.min(shown.length, words.impact.mostShown) && !filter && (
              <p className="quiet">
                {words.impact.more(impact.counts.nodes - Math.min(shown.length, words.impact.mostShown))}
              </p>
            )}
          </>
        ))}
      {impact && impact.counts.checks > 0 && <Checks impact={impact} />}
    </Panel>
  );
};

/** The jobs that only check data. They are not affected. */
const Checks = ({ impact }: { impact: Impact }) => (
  <section className="impact-checks">
    <h3>{words.impact.checks(impact.counts.checks)}</h3>
    <ul className="affected">
      {impact.checks.map((one) => (
        <li key={one.node}>
          <NodeLink id={one.node} lineage />
        </li>
      ))}
    </ul>
    {impact.counts.checks > impact.checks.length && (
      <p className="quiet">{words.impact.checksMore(impact.counts.checks - impact.checks.length)}</p>
    )}
  </section>
);
