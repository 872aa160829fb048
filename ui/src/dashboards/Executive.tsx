// The executive dashboard: coverage, trust and their trends.

import { useEffect, useMemo, useRef, useState } from "react";
import { useAnswer } from "../api";
import { parseName } from "../names";
import { Awaited, exact, Go, Icon, NodeLink, When } from "../components/elements";
import { words } from "../texts";
import { usePages, type Covered, type Kpi, type Listed } from "../api";
import { Chart, Key, type Series } from "../components/Chart";
import { SeriesTable } from "../components/SeriesTable";
import { Paged } from "./Paged";
import { Bar, Tile } from "./Tile";
import { boardAddress } from "./dashboardAddress";

/** Where the list behind a KPI is, if there is one. */
const LISTS: Record<string, string> = {
  lineage_coverage_datasets: boardAddress("executive", { lacking: "lineage" }),
  column_coverage_datasets: boardAddress("executive", { lacking: "columns" }),
  certified_path_integrity: boardAddress("executive", { lacking: "upstream" }),
  unknown_upstream_rate: boardAddress("executive", { lacking: "upstream" }),
  granularity_score: boardAddress("executive", { lacking: "columns" }),
  staleness_median: boardAddress("executive", { lacking: "news" }),
  staleness_max: boardAddress("executive", { lacking: "news" }),
  contract_violation_rate: boardAddress("debug", { show: "checks" }),
  event_loss_rate: boardAddress("debug", { show: "unfinished" }),
  event_refusal_rate: boardAddress("debug", { show: "quarantine" }),
};
const FIRST = [
  "lineage_coverage_datasets",
  "column_coverage_datasets",
  "certified_path_integrity",
  "granularity_score",
  "unknown_upstream_rate",
  "contract_violation_rate",
  "event_loss_rate",
  "staleness_median",
];
const TRENDS = [
  "lineage_coverage_datasets",
  "column_coverage_datasets",
  "column_coverage_jobs",
  "certified_path_integrity",
];
const MONTH = 30 * 86_400_000;

export const Executive = ({ query }: { query: URLSearchParams }) => {
  const reply = useAnswer<{ data: Kpi[] }>("../api/v2/kpis");
  const kpis = reply.answer?.data;
  const isMeasured = kpis?.some((one) => one.measured_at);
  return (
    <>
      <Awaited of={reply} lines={6} />
      {kpis && !isMeasured && (
        <section className="section empty">
          <h2>{words.boards.kpisNone}</h2>
          <p>{words.boards.kpisHow}</p>
          <pre>whence publish</pre>
        </section>
      )}
      {kpis && isMeasured && <Measured kpis={kpis} />}
      <Coverage query={query} />
      {kpis && isMeasured && <All kpis={kpis} />}
    </>
  );
};

const shown = (unit: Kpi["unit"], value: number | null): string => {
  if (value === null) return words.boards.none;
  if (unit === "ratio") return `${(100 * value).toFixed(1)} %`;
  if (unit === "seconds") return words.took(value);
  return value.toLocaleString("en", { maximumFractionDigits: 2 });
};

const nameOf = (one: Kpi): string => words.boards.kpis[one.name] ?? one.name;

const monthBefore = (one: Kpi): number | null => {
  const at = one.measured_at ? Date.parse(one.measured_at) - MONTH : 0;
  return one.series.findLast((point) => Date.parse(point.at) <= at)?.value ?? null;
};

const Measured = ({ kpis }: { kpis: readonly Kpi[] }) => {
  const by = new Map(kpis.map((one) => [one.name, one]));
  const some = FIRST.flatMap((name) => by.get(name) ?? []);
  const at = some.find((one) => one.measured_at)?.measured_at;
  return (
    <>
      <div className="metrics metrics-4">
        {some.map((one) => (
          <KpiTile key={one.name} one={one} />
        ))}
      </div>
      <Trend kpis={TRENDS.flatMap((name) => by.get(name) ?? [])} />
      {at && (
        <p className="quiet board-note">
          {words.boards.measured} <When time={at} />, {exact(at)}
        </p>
      )}
    </>
  );
};

const KpiTile = ({ one }: { one: Kpi }) => {
  const series = useMemo(() => [{ name: nameOf(one), points: one.series }], [one]);
  const before = monthBefore(one);
  return (
    <Tile
      name={nameOf(one)}
      formula={one.definition}
      value={shown(one.unit, one.value)}
      note={before === null ? undefined : words.boards.was(shown(one.unit, before))}
      to={LISTS[one.name]}
    >
      {one.series.length > 1 && (
        <Chart series={series} height={44} label={`${words.boards.trend}: ${nameOf(one)}`} isSmall />
      )}
    </Tile>
  );
};

const percent = (value: number): string => `${Math.round(100 * value)} %`;

const Trend = ({ kpis }: { kpis: readonly Kpi[] }) => {
  const [isTable, setTable] = useState(false);
  const series = useMemo<Series[]>(() => kpis.map((one) => ({ name: nameOf(one), points: one.series })), [kpis]);
  const isOnce = series.every((one) => one.points.length < 2);
  return (
    <section className="section">
      <div className="section-head">
        <div>
          <h2>{words.boards.trend}</h2>
          <p className="quiet">{words.boards.trendOf}</p>
        </div>
        <button type="button" className="button small" onClick={() => setTable(!isTable)}>
          <Icon name={isTable ? "board" : "list"} size={14} />
          {isTable ? words.boards.chart : words.boards.table}
        </button>
      </div>
      {isOnce && !isTable ? (
        <p className="quiet">{words.boards.trendOnce}</p>
      ) : isTable ? (
        <SeriesTable series={series} label={words.boards.trend} times={words.boards.date} shown={ratio} />
      ) : (
        <>
          <Chart series={series} height={260} label={words.boards.trend} shown={percent} />
          <Key series={series} />
        </>
      )}
    </section>
  );
};

const ratio = (value: number | null): string => shown("ratio", value);

const WHATS = ["lineage", "columns", "owner", "description"] as const;

const Coverage = ({ query }: { query: URLSearchParams }) => {
  const listing = usePages<{
    data: { namespaces: Covered[]; hidden: number };
    page: { next: string | null };
  }>("coverage", { limit: 50 });
  const lacking = query.get("lacking");
  const rows = listing.pages.flatMap((page) => page.data.namespaces);
  const hidden = listing.pages[0]?.data.hidden ?? 0;
  return (
    <section className="section" id="coverage">
      <h2>{words.boards.coverage}</h2>
      <p className="quiet">{words.boards.coverageOf}</p>
      <Paged of={listing} isEmpty={!rows.length} none={words.boards.coverageNone} lines={5}>
        <div className="scroll" tabIndex={0} role="region" aria-label={words.boards.coverage}>
          <table className="table plain coverage">
            <thead>
              <tr>
                <th scope="col">{words.boards.namespace}</th>
                <th scope="col" className="number">
                  {words.boards.datasets}
                </th>
                {WHATS.map((what) => (
                  <th key={what} scope="col">
                    {words.boards.whats[what]}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((one) => (
                <tr key={one.namespace}>
                  <th scope="row" className="breaks">
                    {one.namespace}
                  </th>
                  <td className="number">{one.datasets.toLocaleString("en")}</td>
                  {WHATS.map((what) => (
                    <td key={what}>
                      <Share of={one} what={what} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Paged>
      {hidden > 0 && <p className="quiet">{words.boards.hidden(hidden)}</p>}
      {lacking && words.boards.lacking[lacking] && (
        <Lacking what={lacking} namespace={query.get("namespace") ?? undefined} />
      )}
    </section>
  );
};

const Share = ({ of, what }: { of: Covered; what: (typeof WHATS)[number] }) => {
  const share = of.datasets ? of[what] / of.datasets : 0;
  // All but a few is not all.
  const text = `${share < 1 ? Math.min(99, Math.floor(100 * share)) : 100} %`;
  const label = `${words.boards.whats[what]}: ${text}. ${words.boards.lackingIn(words.boards.lacking[what]!, of.namespace)}`;
  return (
    <Go to={boardAddress("executive", { lacking: what, namespace: of.namespace })} className="share" label={label}>
      <Bar share={share} />
      <span>{text}</span>
    </Go>
  );
};

const Lacking = ({ what, namespace }: { what: string; namespace: string | undefined }) => {
  const list = useRef<HTMLDivElement>(null);
  const isNews = what === "news";
  const listing = usePages<Listed<{ node: string; last_seen: string }>>(
    isNews ? "silent-datasets" : "coverage/lacking",
    isNews ? { limit: 50 } : { what, namespace, limit: 50 },
  );
  // It is far below what led to it. Browsers answer with a promise, which is no clean-up of an effect.
  useEffect(() => {
    list.current?.scrollIntoView({ block: "start" });
  }, [what, namespace]);
  const rows = listing.pages.flatMap((page) => page.data);
  const which = words.boards.lacking[what]!;
  return (
    <div className="lacking" ref={list}>
      <div className="section-head">
        <h3>{namespace ? words.boards.lackingIn(which, namespace) : words.boards.lackingAll(which)}</h3>
        <Go to={boardAddress("executive")} className="link-button">
          {words.boards.close}
        </Go>
      </div>
      <Paged of={listing} isEmpty={!rows.length} none={words.boards.lackingNone}>
        <ul className="affected">
          {rows.map((one) => (
            <li key={one.node}>
              <NodeLink id={one.node} />
              <span className="affected-more quiet">
                {!namespace && parseName(one.node).namespace} <When time={one.last_seen} />
              </span>
            </li>
          ))}
        </ul>
      </Paged>
    </div>
  );
};

const All = ({ kpis }: { kpis: readonly Kpi[] }) => (
  <section className="section">
    <h2>{words.boards.all}</h2>
    <div className="scroll" tabIndex={0} role="region" aria-label={words.boards.all}>
      <table className="table plain kpis">
        <thead>
          <tr>
            <th scope="col">{words.boards.kpi}</th>
            <th scope="col" className="number">
              {words.boards.value}
            </th>
            <th scope="col" className="number">
              {words.boards.of}
            </th>
            <th scope="col">{words.boards.definition}</th>
          </tr>
        </thead>
        <tbody>
          {kpis.map((one) => (
            <tr key={one.name}>
              <th scope="row">{LISTS[one.name] ? <Go to={LISTS[one.name]!}>{nameOf(one)}</Go> : nameOf(one)}</th>
              <td className="number">{shown(one.unit, one.value)}</td>
              <td className="number quiet">
                {one.unit === "ratio" && one.denominator
                  ? `${one.numerator?.toLocaleString("en")} / ${one.denominator.toLocaleString("en")}`
                  : ""}
              </td>
              <td className="quiet">{one.definition}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </section>
);
