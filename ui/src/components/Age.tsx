// The age of the data on the screen, and the refresh button.

import { useEffect, useState } from "react";
import { refreshNow, useLive } from "../live";
import { useSession } from "../session";
import { words } from "../texts";
import { Icon } from "./elements";

const SECOND = 1_000;

export const Age = () => {
  const { at, isLost, isBusy } = useLive(useSession().me.may.includes("read"));
  const now = useNow();
  const seconds = Math.max(0, Math.round((now - at) / SECOND));
  return (
    <div className={isLost ? "age lost" : "age"} title={isLost ? words.live.lost : undefined}>
      <span>
        <span className="age-at">{words.live.asOf(new Date(at).toISOString().slice(11, 19))}</span>
        <small>{isLost ? `${words.live.ago(seconds)}, ${words.live.lost}` : words.live.ago(seconds)}</small>
      </span>
      <button
        type="button"
        className="icon-button"
        aria-label={words.live.refresh}
        title={words.live.refresh}
        aria-busy={isBusy}
        onClick={refreshNow}
      >
        <Icon name="refresh" />
      </button>
    </div>
  );
};

const useNow = (): number => {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND);
    return () => clearInterval(timer);
  }, []);
  return now;
};
