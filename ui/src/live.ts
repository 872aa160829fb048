// How old is what is on the screen. While the page is seen, it is asked at intervals how far the graph has come; what
// is shown is asked again where that changed. A hidden page asks nothing; one that gets no answer asks ever less often.

import { useSyncExternalStore } from "react";
import { asked, refresh, settledAnswers } from "./api";

const OFTEN = 15_000;
const SELDOM = 300_000;
/** Jobs become late without an event, so a board is asked again even where nothing came. */
const BOARD_STALE = 60_000;
/** A graph is many questions: not more often than this, however fast events come. */
const LEAST_PAUSE = 30_000;
const BOARDS = /\/(board)?$/;

export interface Live {
  /** When what is shown was last known to be the newest. */
  at: number;
  /** It could not be asked since. */
  isLost: boolean;
  isBusy: boolean;
}

let live: Live = { at: Date.now(), isLost: false, isBusy: false };
let reached: string | undefined;
let refreshedAt = Date.now();
let failures = 0;
let timer: number | undefined;
const listeners = new Set<() => void>();
const tell = (change: Partial<Live>): void => {
  live = { ...live, ...change };
  listeners.forEach((one) => one());
};

/** How long until it is asked again, after so many failures. */
export const pauseAfter = (failed: number): number => Math.min(OFTEN * 2 ** failed, SELDOM);

const later = (): void => {
  clearTimeout(timer);
  timer = document.hidden ? undefined : window.setTimeout(() => void look(), pauseAfter(failures));
};

const askReached = async (): Promise<string> => {
  const response = await fetch(new URL(asked("progress"), document.baseURI), {
    headers: { accept: "application/json" },
  });
  // Who may not know how far the graph is still knows how old the page is.
  if (response.status === 401 || response.status === 403) return "";
  if (!response.ok) throw new Error(response.statusText);
  return String(((await response.json()) as { position: unknown }).position);
};

const isOld = (age: number, isMoved: boolean): boolean =>
  BOARDS.test(window.location.pathname) ? isMoved || age > BOARD_STALE : isMoved && age > LEAST_PAUSE;

const look = async (isForced = false): Promise<void> => {
  clearTimeout(timer);
  const began = Date.now();
  tell({ isBusy: true });
  try {
    const now = await askReached();
    const isMoved = reached !== undefined && now !== reached;
    const isDue = isForced || isOld(began - refreshedAt, isMoved);
    if (isDue) {
      refresh();
      await settledAnswers();
      refreshedAt = began;
    }
    if (isDue || !isMoved) {
      reached = now;
      tell({ at: began });
    }
    failures = 0;
    tell({ isLost: false, isBusy: false });
  } catch {
    failures += 1;
    tell({ isLost: true, isBusy: false });
  }
  later();
};

/** Ask again now, whatever came. */
export const refreshNow = (): void => void look(true);

const seen = (): void => {
  if (document.hidden) return later();
  if (Date.now() - live.at > OFTEN) void look();
  else later();
};

const hear = (listener: () => void): (() => void) => {
  if (!listeners.size) {
    document.addEventListener("visibilitychange", seen);
    seen();
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size) return;
    document.removeEventListener("visibilitychange", seen);
    clearTimeout(timer);
  };
};

export const useLive = (): Live => useSyncExternalStore(hear, () => live);
