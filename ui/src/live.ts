// The age of the data on the screen. A visible page follows the position of the graph by server-sent events, and reloads
// its data when that or what the user may see changed. Without events it polls, less often while nobody answers. A hidden
// page does neither: browsers open six connections to a server, for all their tabs together.

import { useSyncExternalStore } from "react";
import { apiPath, refresh, settledAnswers } from "./api";

const OFTEN = 15_000;
const SELDOM = 300_000;
/** The server sends an event at once, then every 15 s at least. A stream that is silent for longer is held back. */
const SILENT = 40_000;
const FIRST_EVENT = 10_000;
/** Jobs become late, data becomes old and silences end without an event, so these pages are reloaded without events. */
const BOARD_STALE = 60_000;
/** After a change: the server keeps counts that are expensive for some seconds. */
const BOARD_SETTLES = 10_000;
/** The shortest interval between two reloads. */
const BOARD_PAUSE = 3_000;
/** A graph needs many queries. */
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
/** The ETag of the position that is on the screen. */
let reached: string | undefined;
let refreshedAt = Date.now();
let boardIsGoodFor = BOARD_STALE;
let failures = 0;
let timer: number | undefined;
let stream: EventSource | undefined;
/** Whether no event of the stream came so far. */
let isSilent = true;
/** The ETag of an event that came during a reload. */
let heard: string | undefined;
/** Streams that ended before an event came: something between here and the server holds them back. */
let silentStreams = 0;
let streamAgainAt = 0;
const listeners = new Set<() => void>();
const publish = (change: Partial<Live>): void => {
  live = { ...live, ...change };
  listeners.forEach((one) => one());
};

/** The time until the next poll, or the next stream, after a number of failures. */
export const pauseAfter = (failed: number): number => Math.min(OFTEN * 2 ** failed, SELDOM);

const lookAfter = (pause: number): void => {
  clearTimeout(timer);
  timer = document.hidden ? undefined : window.setTimeout(() => void look(), pause);
};

const address = (path: string): URL => new URL(apiPath(path), document.baseURI);

const askReached = async (): Promise<string> => {
  const response = await fetch(address("progress"), { headers: { accept: "application/json" } });
  // Users who may not see the position of the graph still see the age of the page.
  if (response.status === 401 || response.status === 403) return "";
  if (!response.ok) throw new Error(response.statusText);
  const { position } = (await response.json()) as { position: unknown };
  return response.headers.get("etag") ?? String(position);
};

const isBoard = (): boolean => BOARDS.test(window.location.pathname);

const isOld = (age: number, isMoved: boolean): boolean =>
  isBoard() ? age > boardIsGoodFor || (isMoved && age >= BOARD_PAUSE) : isMoved && age > LEAST_PAUSE;

/** Bring the screen to a position that was current at a time. Returns false if that must wait: it was just reloaded. */
const bringTo = async (now: string, time: number, isForced = false): Promise<boolean> => {
  const isMoved = reached !== undefined && now !== reached;
  const isDue = isForced || isOld(time - refreshedAt, isMoved);
  if (isDue) {
    refresh();
    await settledAnswers();
    refreshedAt = time;
    boardIsGoodFor = isMoved ? BOARD_SETTLES : BOARD_STALE;
  }
  if (isMoved && !isDue) return false;
  reached = now;
  publish({ at: time });
  return true;
};

/** Ask for the position, then follow it. */
const look = async (isForced = false): Promise<void> => {
  clearTimeout(timer);
  const began = Date.now();
  publish({ isBusy: true });
  try {
    const now = await askReached();
    await bringTo(now, began, isForced);
    failures = 0;
    publish({ isLost: false, isBusy: false });
    if (now && follow()) {
      if (heard) void hear(heard);
      return;
    }
  } catch {
    failures += 1;
    stopFollowing();
    publish({ isLost: true, isBusy: false });
  }
  lookAfter(pauseAfter(failures));
};

/** Follow the position by a stream. Returns whether one is open. */
const follow = (): boolean => {
  if (document.hidden || (!stream && Date.now() < streamAgainAt)) return false;
  if (!stream) {
    isSilent = true;
    stream = new EventSource(address("progress/events"));
    stream.addEventListener("progress", (event: MessageEvent) => void hear(event.lastEventId));
    stream.addEventListener("error", endStream); // also when the server ends it, after some minutes
  }
  endAfter(isSilent ? FIRST_EVENT : SILENT);
  return true;
};

const stopFollowing = (): void => {
  stream?.close();
  stream = undefined;
};

const endAfter = (pause: number): void => {
  clearTimeout(timer);
  timer = window.setTimeout(endStream, pause);
};

const endStream = (): void => {
  if (!stream) return;
  stopFollowing();
  silentStreams = isSilent ? silentStreams + 1 : 0;
  streamAgainAt = isSilent ? Date.now() + pauseAfter(silentStreams) : 0;
  if (isSilent) lookAfter(OFTEN);
  else void look();
};

/** An event of the stream. What is on the screen follows, or does so a little later if it was just reloaded. */
const hear = async (tag: string): Promise<void> => {
  isSilent = false;
  heard = tag;
  endAfter(SILENT);
  if (live.isBusy) return;
  try {
    for (let now: string | undefined = tag; now; now = heard) {
      heard = undefined;
      publish({ isBusy: true });
      const isThere = await bringTo(now, Date.now());
      publish({ isLost: false, isBusy: false });
      if (!isThere && isBoard() && stream) lookAfter(BOARD_PAUSE);
    }
  } catch {
    publish({ isBusy: false });
    endStream();
  }
};

/** Reload now. */
export const refreshNow = (): void => void look(true);

const seen = (): void => {
  if (document.hidden) {
    clearTimeout(timer);
    stopFollowing();
  } else if (Date.now() - live.at > OFTEN || !follow()) void look();
};

const subscribe = (listener: () => void): (() => void) => {
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
    stopFollowing();
  };
};

const listen = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The age of the page. It follows the graph for those who may read that: others would only be refused. */
export const useLive = (mayRead: boolean): Live => useSyncExternalStore(mayRead ? subscribe : listen, () => live);
