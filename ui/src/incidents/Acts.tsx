// What a person can do about an incident. The server says which acts its state and their role allow.

import { useState } from "react";
import { apiPath, type IncidentDocument } from "../api";
import { Ask, Field } from "../components/Ask";
import { notify } from "../components/Notices";
import { reasonOf, showWritten } from "../facts/writes";
import { fullName } from "../names";
import { send, useSession } from "../session";
import { words } from "../texts";

type Act = IncidentDocument["possible_acts"][number];

interface Body {
  act: Act;
  text?: string;
  assignee?: string;
  seconds?: number;
  cause?: string;
}

/** In the order in which they are needed. */
const ORDER: readonly Act[] = [
  "acknowledge",
  "assign",
  "silence",
  "comment",
  "confirm",
  "mitigate",
  "resolve",
  "reopen",
];

/** Throws a Problem. */
const actOn = async (incident: string, body: Body): Promise<void> => {
  showWritten(await send("POST", apiPath(`incidents/${encodeURIComponent(incident)}/acts`), body));
  notify({ text: words.incidents.done[body.act] ?? body.act });
};

export const Acts = ({ of }: { of: IncidentDocument }) => {
  const [asked, setAsked] = useState<Act>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  if (!of.possible_acts.length) return <p className="quiet">{words.incidents.mayNot}</p>;
  const acknowledge = async () => {
    setBusy(true);
    setProblem(undefined);
    await actOn(of.incident.id, { act: "acknowledge" }).catch((error: unknown) => setProblem(reasonOf(error)));
    setBusy(false);
  };
  return (
    <>
      <div className="acts" role="group" aria-label={words.incidents.acting}>
        {ORDER.filter((act) => of.possible_acts.includes(act)).map((act) => (
          <button
            key={act}
            type="button"
            className={act === "acknowledge" ? "button primary" : "button"}
            disabled={isBusy}
            onClick={() => (act === "acknowledge" ? void acknowledge() : setAsked(act))}
          >
            {words.incidents.acts[act]}
          </button>
        ))}
      </div>
      {problem && (
        <p className="notice-bad" role="alert">
          {problem}
        </p>
      )}
      {asked && <AskAct key={asked} act={asked} of={of} onClose={() => setAsked(undefined)} />}
    </>
  );
};

const AskAct = ({ act, of, onClose }: { act: Act; of: IncidentDocument; onClose: () => void }) => {
  const { me } = useSession();
  const causes = possibleCauses(of);
  const [text, setText] = useState("");
  const [assignee, setAssignee] = useState(me.name);
  const [seconds, setSeconds] = useState<number>(words.incidents.periods[1][0]);
  const [cause, setCause] = useState(causes[0] ?? "");
  const members: Partial<Record<Act, Partial<Body>>> = {
    assign: { assignee },
    silence: { seconds },
    confirm: { cause },
  };
  const run = async () => {
    await actOn(of.incident.id, { act, ...(text.trim() ? { text: text.trim() } : {}), ...members[act] });
    onClose();
  };
  const { incidents } = words;
  return (
    <Ask title={incidents.acts[act]!} act={incidents.acts[act]!} onAct={run} onClose={onClose}>
      <p>{incidents.actsSay[act]}</p>
      {act === "assign" && (
        <Field label={incidents.whom}>
          <input
            className="input"
            required
            maxLength={LONGEST}
            value={assignee}
            onChange={(event) => setAssignee(event.target.value)}
          />
        </Field>
      )}
      {act === "silence" && (
        <Field label={incidents.howLong}>
          <select className="input" value={seconds} onChange={(event) => setSeconds(Number(event.target.value))}>
            {incidents.periods.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </Field>
      )}
      {act === "confirm" && (
        <Field label={incidents.theCause}>
          <select className="input" value={cause} onChange={(event) => setCause(event.target.value)}>
            {causes.map((id) => (
              <option key={id} value={id}>
                {fullName(id)}
              </option>
            ))}
          </select>
        </Field>
      )}
      <Field label={act === "comment" ? incidents.comment : incidents.words}>
        <textarea
          className="input"
          rows={3}
          required={act === "comment"}
          maxLength={LONGEST}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
    </Ask>
  );
};

const LONGEST = 2_000;

/** The most probable ones first. */
const possibleCauses = (of: IncidentDocument): readonly string[] => [
  ...new Set([
    ...of.causes.map((one) => one.node),
    ...of.incident.roots,
    ...of.upstream.map((one) => one.dataset),
    ...of.findings.flatMap((one) => (one.kind === "run" && one.rule ? [one.rule] : [])),
  ]),
];
