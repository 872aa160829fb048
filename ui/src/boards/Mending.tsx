// A body that was refused: read, mended, sent again.

import { useState } from "react";
import { asked, useAnswer } from "../api";
import { reasonOf } from "../facts/changing";
import { Awaited, Icon } from "../parts/bits";
import { send } from "../session";
import { words } from "../words";
import type { QuarantinedBody } from "../api";

export const BodyView = ({ position }: { position: string }) => {
  const told = useAnswer<{ data: QuarantinedBody }>(asked(`quarantine/${encodeURIComponent(position)}`));
  const one = told.answer?.data;
  return (
    <>
      <Awaited of={told} />
      {one && (one.body === null ? <p className="quiet">{words.boards.bodyGone}</p> : <Mending one={one} />)}
    </>
  );
};

const Mending = ({ one }: { one: QuarantinedBody }) => {
  const [text, setText] = useState(one.body ?? "");
  const [outcome, setOutcome] = useState<{ isGood: boolean; says: string }>();
  const [isSending, setSending] = useState(false);
  const replay = () => {
    setSending(true);
    const body = text === one.body ? {} : { body: text };
    send<{ data: { position: string } }>("POST", asked(`quarantine/${encodeURIComponent(one.position)}/replay`), body)
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
