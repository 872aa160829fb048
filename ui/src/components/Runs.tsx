// Runs, one a row, wherever runs are listed.

import { words } from "../texts";
import { pageAddress } from "../address";
import { isHiddenKey } from "../names";
import { Go, runId, RunLink, shortRunId, State, Took, When } from "./elements";

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

const HEADS = [
  words.node.state,
  words.node.run,
  words.node.when,
  words.node.took,
  words.node.error,
  words.runs.compare,
];

const LONGEST = 300;

/** What changed since the run before. */
const CompareLink = ({ run, before }: { run: Row; before: Row }) =>
  isHiddenKey(runId(run.run)) || isHiddenKey(runId(before.run)) ? null : (
    <Go
      to={pageAddress("run", { run: runId(run.run), vs: runId(before.run) })}
      className="link-button"
      label={words.runs.compareOf(shortRunId(run.run))}
    >
      {words.runs.compare}
    </Go>
  );

/** `isWide` where there is room for heads. */
export const Runs = ({ runs, isWide = false }: { runs: readonly Row[]; isWide?: boolean }) => (
  <table className={isWide ? "table plain stacks" : "runs"}>
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
      {runs.map((run, at) => (
        <tr key={run.run + run.job}>
          <td>
            <State state={run.state} />
          </td>
          <td>
            <RunLink run={run.run} />
          </td>
          <td data-label={words.node.when}>
            <When time={run.ended_at ?? run.said_at ?? run.last_seen} />
          </td>
          <td data-label={words.node.took}>
            <Took from={run.started_at} to={run.ended_at} />
          </td>
          {isWide && <td className="run-error">{run.error?.slice(0, LONGEST)}</td>}
          {isWide && <td>{runs[at + 1] && <CompareLink run={run} before={runs[at + 1]!} />}</td>}
        </tr>
      ))}
    </tbody>
  </table>
);
