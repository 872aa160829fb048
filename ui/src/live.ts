// The age of the data on the screen. A visible page polls the position of the graph, and reloads its data when that or
// what the user may see changed. A hidden page does not poll; without an answer the interval grows.

import { useSyncExternalStore } from "react";
import { apiPath, refresh, settledAnswers } from "./api";

const OFTEN = 15_000;
const SELDOM = 300_000;
/** Jobs become late, data becomes old and silences end without an event, so these pages are reloaded without events. */
const BOARD_STALE = 60_000;
/** A graph needs many queries: the shortest interval between two reloads. */
const LEAST_PAUSE = 30_000;
const BOARDS = /\/(board|incidents|incident|slos|slo)?$/;

export interface Live {
  /** The last time at which the data were known to be current. */
  at: number;
  /** The server has been unreachable since. */
  isLost: boolean;
  isBusy: boolean;
}

let live: Live = { at: Date.now(), isLost: false, isBusy: false };
let reached: string | undefined;
let refreshedAt = Date.now();
let failures = 0;
let timer: number | undefined;
const listeners = new Set<() => void>();
const publish = (change: Partial<Live>): void => {
  live = { ...live, ...change };
  listeners.forEach((one) => one());
};

/** The time until the next poll after a number of failures. */
export const pauseAfter = (failed: number): number => Math.min(OFTEN * 2 ** failed, SELDOM);

const later = (): void => {
  clearTimeout(timer);
  timer = document.hidden ? undefined : window.setTimeout(() => void look(), pauseAfter(failures));
};

const askReached = async (): Promise<string> => {
  const response = await fetch(new URL(apiPath("progress"), document.baseURI), {
    headers: { accept: "application/json" },
  });
  // Users who may not see the position of the graph still see the age of the page.
  if (response.status === 401 || response.status === 403) return "";
  if (!response.ok) throw new Error(response.statusText);
  const { position } = (await response.json()) as { position: unknown };
  return response.headers.get("etag") ?? String(position);
};

const isOld = (age: number, isMoved: boolean): boolean =>
  BOARDS.test(window.location.pathname) ? isMoved || age > BOARD_STALE : isMoved && age > LEAST_PAUSE;

const look = async (isForced = false): Promise<void> => {
  clearTimeout(timer);
  const began = Date.now();
  publish({ isBusy: true });
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
      publish({ at: began });
    }
    failures = 0;
    publish({ isLost: false, isBusy: false });
  } catch {
    failures += 1;
    publish({ isLost: true, isBusy: false });
  }
  later();
};

/** Reload now. */
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
