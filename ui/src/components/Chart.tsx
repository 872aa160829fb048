// A line chart (uPlot), with the same numbers as a table for screen readers.

import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface Series {
  name: string;
  points: { at: string; value: number | null }[];
}

interface Props {
  series: readonly Series[];
  height: number;
  label: string;
  /** Without axes and legend: the shape alone. */
  isSmall?: boolean;
  shown?: (value: number) => string;
}

const COLOURS = ["--accent", "--job", "--warn", "--field", "--bad", "--good"];
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 4], [1, 2]];

export const Chart = ({ series, height, label, isSmall = false, shown = String }: Props) => {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const at = place.current;
    if (!at) return;
    let plot: uPlot | undefined;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(options(series, at.clientWidth, height, isSmall, shown), aligned(series), at);
    };
    // Both call back at once.
    const sizes = new ResizeObserver(draw);
    sizes.observe(at);
    const themes = new MutationObserver(draw);
    themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      sizes.disconnect();
      themes.disconnect();
      plot?.destroy();
    };
  }, [series, height, isSmall, shown]);
  return <div ref={place} className="chart" role="img" aria-label={label} style={{ height }} />;
};

/** All series over all times; null where one was not measured. */
const aligned = (series: readonly Series[]): uPlot.AlignedData => {
  const times = [...new Set(series.flatMap((one) => one.points.map((point) => Date.parse(point.at) / 1_000)))].sort(
    (a, b) => a - b,
  );
  const values = series.map((one) => {
    const by = new Map(one.points.map((point) => [Date.parse(point.at) / 1_000, point.value]));
    return times.map((time) => by.get(time) ?? null);
  });
  return [times, ...values];
};

const options = (
  series: readonly Series[],
  width: number,
  height: number,
  isSmall: boolean,
  shown: (value: number) => string,
): uPlot.Options => {
  const css = getComputedStyle(document.documentElement);
  const colour = (name: string) => css.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: colour("--ink-3"),
    font: `12px ${css.getPropertyValue("--sans")}`,
    grid: { stroke: colour("--rule"), width: 1 },
    ticks: { stroke: colour("--rule"), width: 1 },
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: !isSmall, drag: { x: false, y: false }, points: { size: 7 } },
    padding: isSmall ? [4, 2, 4, 2] : [10, 8, 0, 0],
    scales: { y: { range: (_, low, high) => padded(low, high) } },
    axes: isSmall
      ? [{ show: false }, { show: false }]
      : [
          { ...axis, space: 70, values: (_, times) => dates(times) },
          { ...axis, size: 58, values: (_, values) => values.map(shown) },
        ],
    series: [
      {},
      ...series.map((one, place): uPlot.Series => ({
        label: one.name,
        stroke: colour(COLOURS[place % COLOURS.length]!),
        width: 2,
        dash: DASHES[place % DASHES.length],
        points: { show: one.points.length < 3 },
        spanGaps: true,
      })),
    ],
  };
};

/** Days, or hours where it is about less than three days. UTC, as everywhere. */
const dates = (times: number[]): string[] => {
  const isShort = (times.at(-1) ?? 0) - (times[0] ?? 0) < 3 * 86_400;
  return times.map((time) => new Date(time * 1_000).toISOString().slice(...(isShort ? [11, 16] : [5, 10])));
};

const padded = (low: number, high: number): [number, number] => {
  const room = Math.max((high - low) * 0.12, Math.abs(high) * 0.02, 1e-6);
  return [Math.max(low >= 0 ? 0 : -Infinity, low - room), high + room];
};

export const Key = ({ series }: { series: readonly Series[] }) => (
  <ul className="chart-key">
    {series.map((one, place) => (
      <li key={one.name}>
        <svg width="26" height="6" aria-hidden="true" className={`stroke-${place % COLOURS.length}`}>
          <path d="M0 3h26" strokeDasharray={DASHES[place % DASHES.length]!.join(" ")} />
        </svg>
        {one.name}
      </li>
    ))}
  </ul>
);
