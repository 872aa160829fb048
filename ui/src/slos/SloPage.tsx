// One objective: its state, how its budget was used over the time window, and its transitions.

import { useMemo } from "react";
import { apiPath, useAnswer, type SloDetail, type SloRow } from "../api";
import { Chart, Key, type Series } from "../components/Chart";
import { Awaited, exact, Go, NodeLink, RunLink, When } from "../components/elements";
import { Runbook } from "../components/Runbook";
import { Section } from "../components/Section";
import { SeriesTable } from "../components/SeriesTable";
import { Table } from "../gate/Table";
import { words } from "../texts";
import { leftOf } from "./SlosPage";
import { StateChip } from "./StateChip";

const POINTS = 120;
const HEIGHT = 200;

export const SloPage = ({ slo }: { slo: string }) => {
  const query = useAnswer<{ data: SloDetail }>(apiPath(`slos/${encodeURIComponent(slo)}`, { series: POINTS }));
  const found = query.answer?.data;
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1>{found ? found.slo.name : words.slos.name}</h1>
          <p>{found?.slo.service}</p>
        </div>
        <Go to="./slos" className="button">
          {words.slos.every}
        </Go>
      </header>
      <Awaited of={query} lines={8} />
      {found && (
        <div className="page-columns">
          <div>
            <Burning of={found} />
            <Transitions of={found} />
          </div>
          <aside>
            <About of={found.slo} />
          </aside>
        </div>
      )}
    </div>
  );
};

const About = ({ of }: { of: SloRow }) => (
  <dl className="facts">
    <dt>{words.slos.state}</dt>
    <dd>
      <StateChip state={of.state} notify={of.notify} />
    </dd>
    <dt>{words.slos.since}</dt>
    <dd>
      <When time={of.since} />
    </dd>
    <dt>{words.slos.dataset}</dt>
    <dd>
      <NodeLink id={of.dataset} />
    </dd>
    {texts(of).map(([name, text]) => (
      <Fact key={name} name={name} text={text} />
    ))}
    {of.runbook && (
      <>
        <dt>{words.slos.runbook}</dt>
        <dd className="breaks">
          <Runbook address={of.runbook} />
        </dd>
      </>
    )}
    <dt>{words.slos.declared}</dt>
    <dd>
      <When time={of.declared_at} /> {words.slos.by} {of.declared_by}
    </dd>
  </dl>
);

const Fact = ({ name, text }: { name: string; text: string }) => (
  <>
    <dt>{name}</dt>
    <dd className="breaks">{text}</dd>
  </>
);

/** What is known of it, by name; what is not is left out. */
const texts = (of: SloRow): [string, string][] => {
  const { budget } = of;
  const used = budget?.budgeting_method === "Timeslices" ? words.slos.usedTime : words.slos.usedCount;
  const all: [string, string | null | undefined][] = [
    [words.slos.indicator, of.indicator],
    [words.slos.target, words.slos.targetOf(of.target, of.window_days)],
    [words.slos.left, budget && leftOf(budget)],
    [words.slos.used, budget && used(budget.bad, budget.allowed)],
    [words.slos.suppressed, budget?.suppressed_share ? words.slos.percent(budget.suppressed_share) : null],
    [words.slos.observed, of.observed],
    [words.slos.expected, of.expected],
    [words.slos.reason, of.reason],
    [words.slos.alerts, of.alerts.map((one) => `${one.notify}: ${one.rule}`).join("; ")],
  ];
  return all.filter((one): one is [string, string] => !!one[1]);
};

const Burning = ({ of }: { of: SloDetail }) => {
  const budget = useMemo<Series[]>(
    () => [{ name: words.slos.remaining, points: of.series.map(({ at, remaining }) => ({ at, value: remaining })) }],
    [of],
  );
  const burn = useMemo<Series[]>(
    () =>
      of.slo.burn_rates.map((rate, place) => ({
        name: words.slos.burnIn(rate.long_window.seconds),
        points: of.series.map(({ at, burn_rates }) => ({ at, value: burn_rates[place] ?? null })),
      })),
    [of],
  );
  const isKnown = of.series.some((one) => one.remaining !== null);
  return (
    <>
      {!isKnown && of.slo.budget && of.series.length > 0 ? (
        <Counted of={of} />
      ) : (
        <Section title={words.slos.budgetChart}>
          {isKnown ? (
            <>
              <Chart series={budget} height={HEIGHT} label={words.slos.budgetChart} shown={words.slos.percentAxis} />
              <Numbers of={budget} label={words.slos.budgetChart} shown={words.slos.percent} />
            </>
          ) : (
            <p className="quiet">{words.slos.noSeries}</p>
          )}
        </Section>
      )}
      {isKnown && burn.length > 0 && (
        <Section title={words.slos.burnChart}>
          <p className="quiet">{words.slos.burnAbout}</p>
          <Key series={burn} />
          <Chart series={burn} height={HEIGHT} label={words.slos.burnChart} />
          <Numbers of={burn} label={words.slos.burnChart} shown={words.slos.rate} />
        </Section>
      )}
    </>
  );
};

/** Where nothing may be bad there is no share to be left of it: what was bad. */
const Counted = ({ of }: { of: SloDetail }) => {
  const isTime = of.slo.budget?.budgeting_method === "Timeslices";
  const counts = useMemo<Series[]>(() => {
    const unit = isTime ? HOUR : 1;
    return [
      { name: words.slos.bad(isTime), points: of.series.map(({ at, bad }) => ({ at, value: bad / unit })) },
      { name: words.slos.allowed, points: of.series.map(({ at, allowed }) => ({ at, value: allowed / unit })) },
    ];
  }, [of, isTime]);
  return (
    <Section title={words.slos.countChart}>
      <p className="quiet">{words.slos.countAbout}</p>
      <Key series={counts} />
      <Chart series={counts} height={HEIGHT} label={words.slos.countChart} />
      <Numbers of={counts} label={words.slos.countChart} shown={words.slos.rate} />
    </Section>
  );
};

const HOUR = 3_600;

const Numbers = ({
  of,
  label,
  shown,
}: {
  of: readonly Series[];
  label: string;
  shown: (value: number | null) => string;
}) => (
  <details>
    <summary>{words.slos.numbers}</summary>
    <SeriesTable series={of} label={label} times={words.slos.when} shown={shown} />
  </details>
);

const Transitions = ({ of }: { of: SloDetail }) => {
  const { from, to, when, reason } = words.slos;
  if (!of.transitions.length)
    return (
      <Section title={words.slos.transitions}>
        <p className="quiet">{words.slos.transitionsNone}</p>
      </Section>
    );
  return (
    <Section title={words.slos.transitions} count={of.transitions.length}>
      <Table heads={[when, from, to, reason, words.node.run]}>
        {of.transitions.map((one) => (
          <tr key={one.id}>
            <th scope="row">
              <time dateTime={one.time}>{exact(one.time).slice(0, 19)}</time>
            </th>
            <td data-label={from}>
              <StateChip state={one.before} notify={one.notify_before} />
            </td>
            <td data-label={to}>
              <StateChip state={one.after} notify={one.notify} />
            </td>
            <td data-label={reason}>{one.reason ?? "–"}</td>
            <td data-label={words.node.run}>{one.run ? <RunLink run={one.run} /> : "–"}</td>
          </tr>
        ))}
      </Table>
    </Section>
  );
};

export default SloPage;
