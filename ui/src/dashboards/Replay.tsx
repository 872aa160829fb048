// A quarantined body: view, correct, replay.

import { useState } from "react";
import { apiPath, useAnswer } from "../api";
import { reasonOf } from "../facts/writes";
import { Awaited, Icon } from "../components/elements";
import { send } from "../session";
import { words } from "../texts";
import type { QuarantinedBody } from "../api";

export const BodyView = ({ position }: { position: string }) => {
  const query = useAnswer<{ data: QuarantinedBody }>(apiPath(`quarantine/${encodeURIComponent(position)}`));
  const one = query.answer?.data;
  return (
    <>
      <Awaited of={query} />
      {one && (one.body === null ? <p className="quiet">{words.boards.bodyGone}</p> : <Replay one={one} />)}
    </>
  );
};

const Replay = ({ one }: { one: QuarantinedBody }) => {
  const [text, setText] = useState(one.body ?? "");
  const [outcome, setOutcome] = useState<{ isGood: boolean; says: string }>();
  const [isSending, setSending] = useState(false);
  const replay = () => {
    setSending(true);
    const body = text === one.body ? {} : { body: text };
    send<{ data: { position: string } }>("POST", apiPath(`quarantine/${encodeURIComponent(one.position)}/replay`), body)
      .then(({ answer }) => setOutcome({ isGood: true, says: words.boards.replayed(answer.data.position) }))
      .catch((error: unknown) => setOutcome({ isGood: false, says: reasonOf(error) }))
      .finally(() => setSending(false));
  };
  return (
    <div className="mending">
      <textarea
        className="input mono"
        value={text}
        rows={Math.min(18, Math.max(5, text.split("\n").length + 1))}
        aria-label={words.boards.body}
        readOnly={one.cut}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="mending-foot">
        <button type="button" className="button primary" disabled={isSending || one.cut} onClick={replay}>
          <Icon name="refresh" />
          {words.boards.replay}
        </button>
        <span className="quiet">{one.bytes !== null && words.boards.bytes(one.bytes)}</span>
        {one.cut && <span className="quiet">{words.boards.bodyCut}</span>}
        {outcome && (
          <p role="status" className={outcome.isGood ? "outcome good" : "outcome bad"}>
            {outcome.isGood ? "" : `${words.boards.refusedAgain}: `}
            {outcome.says}
          </p>
        )}
      </div>
    </div>
  );
};
