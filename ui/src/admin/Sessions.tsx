// Where somebody is signed in, and signing out there.

import { useState } from "react";
import { asked, refresh, useAnswer, type OwnSession } from "../api";
import { notify } from "../parts/Notices";
import { Awaited, exact, When } from "../parts/bits";
import { send, useSession } from "../session";
import { words } from "../words";
import { Ask } from "./parts";

const said = words.admin.sessions;

export const Sessions = () => {
  const told = useAnswer<{ data: OwnSession[] }>(asked("sessions"));
  const { signOut } = useSession();
  const [asking, setAsking] = useState<OwnSession>();
  const all = told.answer?.data ?? [];
  const end = async (one: OwnSession) => {
    if (one.current) return signOut();
    await send("DELETE", asked(`sessions/${one.id}`));
    notify({ text: said.ended });
    setAsking(undefined);
    refresh();
  };
  return (
    <section className="section" aria-label={words.admin.tabs["sessions"]}>
      <p className="quiet">{said.about}</p>
      <Awaited of={told} />
      {told.answer && !all.length && <p className="quiet">{said.none}</p>}
      {all.length > 0 && (
        <div className="scrolls" tabIndex={0} role="region" aria-label={words.admin.tabs["sessions"]}>
          <table className="table plain">
            <thead>
              <tr>
                {[said.began, said.used, said.by, said.until, ""].map((one) => (
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
                    {one.current && <span className="chip chip-good">{said.here}</span>}
                  </th>
                  <td className="nowrap" data-label={said.used}>
                    <When time={one.used_at} />
                  </td>
                  <td>{one.key ? said.key(one.key) : said.provider}</td>
                  <td className="nowrap" data-label={said.until}>
                    {exact(one.expires_at).slice(0, 16)}
                  </td>
                  <td className="acts">
                    <button
                      type="button"
                      className="link-button danger"
                      aria-label={said.endOf(exact(one.created_at))}
                      onClick={() => setAsking(one)}
                    >
                      {said.end}
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {asking && (
        <Ask
          title={said.endOf(exact(asking.created_at))}
          act={said.end}
          isDangerous
          onAct={() => end(asking)}
          onClose={() => setAsking(undefined)}
        >
          <p>{asking.current ? said.endHere : said.endAsk}</p>
        </Ask>
      )}
    </section>
  );
};
