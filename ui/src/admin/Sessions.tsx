// Where somebody is signed in, and signing out there.

import { useState } from "react";
import { apiPath, refresh, useAnswer, type OwnSession } from "../api";
import { notify } from "../components/Notices";
import { Awaited, exact, When } from "../components/elements";
import { send, useSession } from "../session";
import { words } from "../texts";
import { Ask } from "../components/Ask";

const texts = words.admin.sessions;

export const Sessions = () => {
  const query = useAnswer<{ data: OwnSession[] }>(apiPath("sessions"));
  const { signOut } = useSession();
  const [confirming, setConfirming] = useState<OwnSession>();
  const all = query.answer?.data ?? [];
  const end = async (one: OwnSession) => {
    if (one.current) return signOut();
    await send("DELETE", apiPath(`sessions/${one.id}`));
    notify({ text: texts.ended });
    setConfirming(undefined);
    refresh();
  };
  return (
    <section className="section" aria-label={words.admin.tabs["sessions"]}>
      <p className="quiet">{texts.about}</p>
      <Awaited of={query} />
      {query.answer && !all.length && <p className="quiet">{texts.none}</p>}
      {all.length > 0 && (
        <div className="scrolls" tabIndex={0} role="region" aria-label={words.admin.tabs["sessions"]}>
          <table className="table plain">
            <thead>
              <tr>
                {[texts.began, texts.used, texts.by, texts.until, ""].map((one) => (
                  <th key={one} scope="col">
                    {one || <span className="hidden">{words.list.actions}</span>}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {all.map((one) => (
                <tr key={one.id}>
                  <th scope="row" className="nowrap">
                    {exact(one.created_at).slice(0, 16)}{" "}
                    {one.current && <span className="chip chip-good">{texts.here}</span>}
                  </th>
                  <td className="nowrap" data-label={texts.used}>
                    <When time={one.used_at} />
                  </td>
                  <td>{one.key ? texts.key(one.key) : texts.provider}</td>
                  <td className="nowrap" data-label={texts.until}>
                    {exact(one.expires_at).slice(0, 16)}
                  </td>
                  <td className="acts">
                    <button
                      type="button"
                      className="link-button danger"
                      aria-label={texts.endOf(exact(one.created_at))}
                      onClick={() => setConfirming(one)}
                    >
                      {texts.end}
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {confirming && (
        <Ask
          title={texts.endOf(exact(confirming.created_at))}
          act={texts.end}
          isDangerous
          onAct={() => end(confirming)}
          onClose={() => setConfirming(undefined)}
        >
          <p>{confirming.current ? texts.endHere : texts.endAsk}</p>
        </Ask>
      )}
    </section>
  );
};
