// Notifications of completed actions, with undo.

import { useEffect, useSyncExternalStore } from "react";
import { words } from "../texts";
import { Icon } from "./elements";

interface Notice {
  id: number;
  text: string;
  isBad?: boolean;
  undo?: () => void;
}

const SHOWN_MS = 8_000;
let notices: readonly Notice[] = [];
let last = 0;
const listeners = new Set<() => void>();
const listen = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
const change = (to: readonly Notice[]): void => {
  notices = to;
  listeners.forEach((one) => one());
};

/** Show a notification at the bottom of the screen. */
export const notify = (notice: Omit<Notice, "id">): void => change([...notices.slice(-2), { ...notice, id: ++last }]);

const drop = (id: number): void => change(notices.filter((one) => one.id !== id));

export const Notices = () => {
  const shown = useSyncExternalStore(listen, () => notices);
  return (
    <div className="notices" role="status" aria-live="polite">
      {shown.map((one) => (
        <NoticeView key={one.id} notice={one} />
      ))}
    </div>
  );
};

const NoticeView = ({ notice }: { notice: Notice }) => {
  useEffect(() => {
    const timer = setTimeout(() => drop(notice.id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice.id]);
  return (
    <div className={notice.isBad ? "notice bad" : "notice"}>
      <span>{notice.text}</span>
      {notice.undo && (
        <button
          type="button"
          onClick={() => {
            drop(notice.id);
            notice.undo?.();
          }}
        >
          {words.edit.undo}
        </button>
      )}
      <button type="button" className="notice-close" aria-label={words.explorer.close} onClick={() => drop(notice.id)}>
        <Icon name="close" size={14} />
      </button>
    </div>
  );
};
