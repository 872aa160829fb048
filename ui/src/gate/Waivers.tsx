// The waiver of one change: the form that records it, and the button that ends it.

import { useState } from "react";
import { refresh, type ChangeRecord } from "../api";
import { reasonOf } from "../facts/writes";
import { send } from "../session";
import { words } from "../texts";
import { useApprover } from "./Approvals";
import { waiverPath } from "./address";

const DAY = 86_400_000;
/** As the API allows, and what the form proposes. */
const MOST_DAYS = 366;
const PROPOSED_DAYS = 14;

const dayIn = (days: number): string => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);

export const WaiverForm = ({ repository, change }: { repository: string; change: ChangeRecord }) => {
  const { isOpen } = useApprover(repository);
  const [reason, setReason] = useState("");
  const [expires, setExpires] = useState(dayIn(PROPOSED_DAYS));
  const [problem, setProblem] = useState("");
  const [waived, setWaived] = useState("");
  if (!isOpen || change.waiver || change.verdict === "pass" || change.verdict === "note") return null;
  if (waived) return <p role="status">{words.gate.waivedNow(waived)}</p>;
  const waive = async (): Promise<void> => {
    try {
      await send("PUT", waiverPath(repository, change.id), { reason: reason.trim(), expires });
      setWaived(expires);
      refresh();
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  return (
    <details className="waiver-form">
      <summary>{words.gate.waive}</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void waive();
        }}
      >
        <label className="field">
          {words.gate.reason}
          <textarea
            className="input"
            required
            maxLength={1_000}
            rows={2}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        </label>
        <label className="field">
          {words.gate.expires}
          <input
            className="input"
            type="date"
            required
            min={dayIn(0)}
            max={dayIn(MOST_DAYS)}
            value={expires}
            onChange={(event) => setExpires(event.target.value)}
          />
        </label>
        <button type="submit" className="button" disabled={!reason.trim()}>
          {words.gate.waiveNow}
        </button>
        {problem && <p role="alert">{problem}</p>}
      </form>
    </details>
  );
};

export const EndWaiver = ({ repository, change }: { repository: string; change: string }) => {
  const { isOpen } = useApprover(repository);
  const [problem, setProblem] = useState("");
  if (!isOpen) return null;
  const end = async (): Promise<void> => {
    try {
      await send("DELETE", waiverPath(repository, change));
      refresh();
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  return (
    <>
      <button type="button" className="button small" aria-label={words.gate.endOf(change)} onClick={() => void end()}>
        {words.gate.end}
      </button>
      {problem && <p role="alert">{problem}</p>}
    </>
  );
};
