// Runs, one a row, wherever runs are listed.

import { words } from "../words";
import { RunLink, State, Took, When } from "./bits";

interface Row {
  run: string;
  job: string;
  state: string;
  started_at: string | null;
  ended_at: string | null;
  said_at?: string;
  last_seen?: string | null;
  error?: string | null;
}

const HEADS = [words.node.state, words.node.run, words.node.when, words.node.took, words.node.error];

const LONGEST = 300;

/** `isWide` where there is room for heads. */
export const Runs = ({ runs, isWide = false }: { runs: readonly Row[]; isWide?: boolean }) => (
  <table className={isWide ? "table plain" : "runs"}>
    {isWide && (
      <thead>
        <tr>
          {HEADS.map((one) => (
            <th key={one} scope="col">
              {one}
            </th>
          ))}
        </tr>
      </thead>
    )}
    <tbody>
      {runs.map((run) => (
        <tr key={run.run + run.job}>
          <td>
            <State state={run.state} />
          </td>
          <td>
            <RunLink run={run.run} />
          </td>
          <td>
            <When time={run.ended_at ?? run.said_at ?? run.last_seen} />
          </td>
          <td>
            <Took from={run.started_at} to={run.ended_at} />
          </td>
          {isWide && <td className="run-error">{run.error?.slice(0, LONGEST)}</td>}
        </tr>
      ))}
    </tbody>
  </table>
);
