// The numbers of a chart as a table, the latest first.

import type { Series } from "./Chart";
import { exact } from "./elements";

interface Props {
  series: readonly Series[];
  label: string;
  /** The heading of the times. */
  times: string;
  shown: (value: number | null) => string;
}

export const SeriesTable = ({ series, label, times, shown }: Props) => {
  const all = [...new Set(series.flatMap((one) => one.points.map((point) => point.at)))].sort().reverse();
  const by = series.map((one) => new Map(one.points.map((point) => [point.at, point.value])));
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={label}>
      <table className="table plain">
        <thead>
          <tr>
            <th scope="col">{times}</th>
            {series.map((one) => (
              <th key={one.name} scope="col" className="number">
                {one.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {all.map((time) => (
            <tr key={time}>
              <th scope="row">{exact(time).slice(0, 19)}</th>
              {by.map((values, place) => (
                <td key={place} className="number">
                  {shown(values.get(time) ?? null)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};
