// Who must approve a commit, who did, and the reader's own approval.

import { useState } from "react";
import { apiPath, refresh, type RecordedVerdict } from "../api";
import { reasonOf } from "../facts/writes";
import { Section } from "../components/Section";
import { send, useMay, useSession } from "../session";
import { words } from "../texts";
import { verdictPath } from "./address";

export const Approvals = ({ of }: { of: RecordedVerdict }) => {
  const required = of.verdict.required_approvals;
  const isBlocked = of.verdict.verdict === "blocked";
  return (
    <Section title={words.gate.required} count={required.length}>
      {isBlocked && <p className="quiet">{words.gate.requiredBlocked}</p>}
      {required.length === 0 && !isBlocked && <p className="quiet">{words.gate.requiredNone}</p>}
      {required.length > 0 && (
        <table className="table plain stacks">
          <thead>
            <tr>
              {[words.gate.owner, words.gate.mayApprove, words.gate.approvedBy, words.gate.changes].map((one) => (
                <th key={one} scope="col">
                  {one}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {required.map((one, at) => (
              <tr key={`${one.owner} ${at}`}>
                <th scope="row">{one.owner ?? words.gate.ofNobody}</th>
                <td data-label={words.gate.mayApprove}>{one.people.join(", ") || words.gate.anybody}</td>
                <td data-label={words.gate.approvedBy}>{one.approved_by ?? words.gate.missing}</td>
                <td className="mono" data-label={words.gate.changes}>
                  {one.changes.join(" ")}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {of.approvals.length > 0 && (
        <p>
          {words.gate.approvedHere}: {of.approvals.map((one) => one.person).join(", ")}. {words.gate.again}
        </p>
      )}
      <OwnApproval of={of} />
    </Section>
  );
};

const OwnApproval = ({ of }: { of: RecordedVerdict }) => {
  const { me, isOpen } = useApprover(of.repository);
  const [problem, setProblem] = useState("");
  if (!isOpen) return null;
  const isMine = of.approvals.some((one) => one.person === me);
  const change = async (): Promise<void> => {
    try {
      await send(isMine ? "DELETE" : "PUT", apiPath(`${verdictPath(of.repository, of.verdict.commit)}/approval`));
      setProblem("");
      refresh();
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  return (
    <>
      <button type="button" className={isMine ? "button" : "button primary"} onClick={() => void change()}>
        {isMine ? words.gate.withdraw : words.gate.approve}
      </button>
      {problem && <p role="alert">{problem}</p>}
    </>
  );
};

/** Who reads, and whether they may approve here: where Whence runs open, nobody has a name to do it with. */
export const useApprover = (repository: string): { me: string; isOpen: boolean } => {
  const { me } = useSession();
  const may = useMay("steward", repository);
  return { me: me.name, isOpen: may && me.name !== "open" };
};
