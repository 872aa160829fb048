// The access review: each grant with its use and what speaks against it, and the decision to keep it.

import { useState } from "react";
import { apiPath, refresh, useAnswer, type AccessReview as Review, type One } from "../../api";
import { Ask, Field } from "../../components/Ask";
import { Awaited, Go, When } from "../../components/elements";
import { notify } from "../../components/Notices";
import { GRADES } from "../../sensitivity/grades";
import { send, useSession } from "../../session";
import { words } from "../../texts";

const texts = words.governance;
const SHOWN = 12;
const WINDOWS = [30, 90, 180];
type Reviewed = Review["grants"][number];

export const AccessReview = () => {
  const { me, isOpen } = useSession();
  const isAdministrator = me.grants.some((one) => one.role === "admin" && one.namespaces === "*");
  return (
    <section className="section" id="access">
      <h2>{texts.access}</h2>
      {isOpen ? (
        <p className="quiet">{texts.accessOpen}</p>
      ) : isAdministrator ? (
        <Grants />
      ) : (
        <p className="quiet">{texts.accessFor}</p>
      )}
      <p className="quiet">
        {texts.howTo} <code>whence access review</code>
      </p>
    </section>
  );
};

const Grants = () => {
  const [days, setDays] = useState(90);
  const [isWhole, setWhole] = useState(false);
  const [keeping, setKeeping] = useState<Reviewed>();
  const asked = useAnswer<One<Review>>(apiPath("access-review", { window: days }));
  const found = asked.answer?.data;
  const shown = found?.grants.slice(0, isWhole ? undefined : SHOWN) ?? [];
  return (
    <>
      <div className="section-head">
        <p className="quiet">
          {texts.accessOf}{" "}
          {found &&
            (found.reviewed_at ? (
              <>
                {texts.reviewed} <When time={found.reviewed_at} />.
              </>
            ) : (
              texts.neverReviewed
            ))}{" "}
          {found && texts.known(found.columns)}
        </p>
        <Go to="./admin?tab=access" className="button small">
          {texts.roles}
        </Go>
      </div>
      <p className="chips" role="group" aria-label={texts.window}>
        <span className="quiet">{texts.window}</span>
        {WINDOWS.map((one) => (
          <button
            key={one}
            type="button"
            className="chip chip-button"
            aria-pressed={one === days}
            onClick={() => setDays(one)}
          >
            {texts.days(one)}
          </button>
        ))}
      </p>
      <Awaited of={asked} lines={5} />
      {shown.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label={texts.access}>
          <table className="table plain review">
            <thead>
              <tr>
                {[texts.who, texts.used, texts.sees, texts.concerns].map((one) => (
                  <th key={one} scope="col">
                    {one}
                  </th>
                ))}
                <th scope="col">
                  <span className="hidden">{words.list.actions}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map((one) => (
                <Row key={one.subject + " " + one.namespaces} one={one} onKeep={() => setKeeping(one)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {found && found.grants.length > shown.length && (
        <button type="button" className="button small" onClick={() => setWhole(true)}>
          {words.labels.more(found.grants.length - shown.length)}
        </button>
      )}
      {keeping && <Keep one={keeping} onClose={() => setKeeping(undefined)} />}
    </>
  );
};

const Row = ({ one, onKeep }: { one: Reviewed; onKeep: () => void }) => (
  <tr>
    <th scope="row">
      <span className="mono breaks">{one.subject}</span>
      <small className="sub breaks">{texts.roleIn(words.roles[one.role] ?? one.role, one.namespaces)}</small>
      {one.kept && (
        <small className="sub breaks">
          {texts.keptBy(one.kept.by, one.kept.reason)}, <When time={one.kept.at} />
        </small>
      )}
    </th>
    <td data-label={texts.used}>
      {one.used_at ? <When time={one.used_at} /> : <span className="quiet">{texts.never}</span>}
      {one.strongest_use && (
        <small className="sub">{texts.strongest(words.roles[one.strongest_use] ?? one.strongest_use)}</small>
      )}
    </td>
    <td data-label={texts.sees}>
      <Sees of={one.columns} />
    </td>
    <td>
      <span className="chips">
        {one.concerns.map((each) => (
          <span key={each} className={each === "not reviewed" ? "chip" : "chip chip-warn"}>
            {each}
          </span>
        ))}
      </span>
    </td>
    <td className="acts">
      <button
        type="button"
        className="link-button"
        aria-label={texts.keepOf(one.subject, one.namespaces)}
        onClick={onKeep}
      >
        {texts.keep}
      </button>
    </td>
  </tr>
);

const Sees = ({ of }: { of: Record<string, number> }) => {
  const parts = GRADES.filter((grade) => of[grade]);
  if (!parts.length) return <span className="quiet">0</span>;
  return <>{parts.map((grade) => `${of[grade]!.toLocaleString("en")} ${words.labels.grades[grade]}`).join(", ")}</>;
};

const Keep = ({ one, onClose }: { one: Reviewed; onClose: () => void }) => {
  const [reason, setReason] = useState("");
  const act = async () => {
    await send("PUT", apiPath("grants/kept"), { subject: one.subject, namespaces: one.namespaces, reason });
    notify({ text: texts.kept(one.subject) });
    refresh();
    onClose();
  };
  return (
    <Ask title={texts.keepTitle(one.subject)} act={texts.keep} onAct={act} onClose={onClose}>
      <p className="quiet breaks">{texts.roleIn(words.roles[one.role] ?? one.role, one.namespaces)}</p>
      <Field label={texts.reason}>
        <input
          className="input"
          required
          autoFocus
          value={reason}
          placeholder={texts.reasonHint}
          onChange={(event) => setReason(event.target.value)}
        />
      </Field>
    </Ask>
  );
};
