// The versions of a dataset that its table and its runs reported, the newest first.

import { apiPath, useAnswer, type DatasetVersion, type DatasetVersions, type Envelope } from "../../api";
import { RunLink, State, When } from "../../components/elements";
import { Section } from "../../components/Section";
import { words } from "../../texts";

const MOST = 20;
const HEADS = words.node.versionHeads;
const ROWS = HEADS.length - 2;

export const TableVersions = ({ node }: { node: string }) => {
  const query = useAnswer<Envelope<DatasetVersions>>(apiPath("versions", { node, limit: MOST }));
  const versions = query.answer?.data.versions ?? [];
  if (!versions.length) return null;
  return (
    <Section title={words.node.versions} count={query.answer?.page?.total}>
      <table className="table plain stacks">
        <thead>
          <tr>
            {HEADS.map((one, place) => (
              <th key={one} scope="col" className={place === ROWS ? "number" : undefined}>
                {one}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {versions.map((one) => (
            <Row key={one.version} one={one} />
          ))}
        </tbody>
      </table>
    </Section>
  );
};

const Row = ({ one }: { one: DatasetVersion }) => (
  <tr>
    <td className="mono breaks">
      {one.version}
      {one.lost > 0 && <span className="quiet"> {words.node.lostVersions(one.lost)}</span>}
    </td>
    <td>
      <When time={one.time} />
    </td>
    <td>
      {one.operation}
      {!one.has_new_data && <span className="quiet"> {words.node.sameRows}</span>}
    </td>
    <td className="number">{one.rows?.toLocaleString("en")}</td>
    <td>
      {one.run ? <RunLink run={one.run} /> : <span className="quiet">{words.node.noRun}</span>}{" "}
      {(one.run_state === "FAIL" || one.run_state === "ABORT") && <State state={one.run_state} />}
    </td>
  </tr>
);
