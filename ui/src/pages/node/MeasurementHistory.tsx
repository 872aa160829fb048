// What runs measured of a dataset, one metric at a time: a chart, and the same numbers as a table.

import { lazy, Suspense, useMemo, useState } from "react";
import { apiPath, useAnswer, type Envelope, type Measurement, type Measurements } from "../../api";
import { Awaited, Icon, When } from "../../components/elements";
import { Section } from "../../components/Section";
import { SeriesTable } from "../../components/SeriesTable";
import { words } from "../../texts";

// uPlot is loaded with the first chart.
const Chart = lazy(() => import("../../components/Chart").then(({ Chart }) => ({ default: Chart })));

/** The numbers that one page of an answer contains. */
const READ = 1_000;
const shown = (value: number) => value.toLocaleString("en", { maximumSignificantDigits: 6 });

export const MeasurementHistory = ({ node, asOf }: { node: string; asOf?: string | undefined }) => {
  const query = useAnswer<Envelope<Measurements>>(apiPath("measurements", { node, as_of: asOf, limit: READ }));
  const measured = useMemo(() => seriesOf(query.answer?.data.measurements ?? []), [query.answer]);
  const [chosen, setChosen] = useState("");
  const [isTable, setTable] = useState(false);
  const one = measured.get(chosen) ?? measured.values().next().value;
  if (query.answer && !one) return null;
  return (
    <Section title={words.node.measurements} count={measured.size}>
      <Awaited of={query} />
      {one && (
        <>
          <div className="section-head">
            <label>
              {words.node.measured}{" "}
              <select className="input" value={one.name} onChange={(event) => setChosen(event.target.value)}>
                {[...measured.keys()].map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
            {one.points.length > 1 && (
              <button type="button" className="button small" onClick={() => setTable(!isTable)}>
                <Icon name={isTable ? "board" : "list"} size={14} />
                {isTable ? words.node.chart : words.node.table}
              </button>
            )}
          </div>
          {one.points.length === 1 ? (
            <p>
              {words.node.oneValue} <b>{shown(one.points[0]!.value)}</b> · <When time={one.points[0]!.at} />
            </p>
          ) : isTable ? (
            <SeriesTable
              series={[one]}
              label={labelOf(one)}
              times={words.node.time}
              shown={(value) => shown(value ?? 0)}
            />
          ) : (
            <Suspense fallback={<Awaited of={{ waiting: true }} />}>
              <LineOf one={one} />
            </Suspense>
          )}
        </>
      )}
    </Section>
  );
};

interface Measured {
  name: string;
  points: { at: string; value: number }[];
}

/** The measurements by column and metric, the oldest point first. What was measured as a run read it has a name of its own. */
const seriesOf = (several: readonly Measurement[]): Map<string, Measured> => {
  const found = Map.groupBy([...several].reverse(), nameOf);
  const sorted = [...found].sort(([one], [other]) => orderOf(one).localeCompare(orderOf(other)));
  return new Map(
    sorted.map(([name, rows]) => [name, { name, points: rows.map(({ time, value }) => ({ at: time, value })) }]),
  );
};

const nameOf = (one: Measurement) =>
  [one.column, one.metric].filter(Boolean).join(".") + (one.role === "input" ? ` (${words.node.asRead})` : "");

/** Row counts first, then what is measured of the whole dataset, then columns. */
const orderOf = (name: string) => (name.startsWith("rowCount") ? 0 : name.includes(".") ? 2 : 1) + name;

const labelOf = (one: Measured) => `${words.node.measurements}: ${one.name}`;

const LineOf = ({ one }: { one: Measured }) => {
  const series = useMemo(() => [one], [one]);
  return <Chart series={series} height={180} label={labelOf(one)} shown={shown} />;
};
