// Asks the worker for a tidy layout; if it does not answer in time, our own placer does.

import { placed, type Link, type Point, type Sized } from "./place";
import type { Asked, Tidied } from "./tidy.worker";

const PATIENCE = 4_000;
let worker: Worker | undefined;
let tickets = 0;

export const tidy = (boxes: Sized[], links: Link[]): Promise<Map<string, Point>> => {
  const own = () => placed(boxes, links, new Map());
  if (boxes.length < 2) return Promise.resolve(own());
  worker ??= new Worker(new URL("./tidy.worker.ts", import.meta.url), { type: "module" });
  const [asked, at] = [worker, ++tickets];
  return new Promise((resolve) => {
    const end = (places: Map<string, Point>) => {
      clearTimeout(timer);
      asked.removeEventListener("message", answered);
      asked.removeEventListener("error", failed);
      resolve(places);
    };
    const answered = ({ data }: MessageEvent<Tidied>) => {
      if (data.ticket === at) end(new Map(data.places));
    };
    const failed = () => end(own());
    const timer = setTimeout(failed, PATIENCE);
    asked.addEventListener("message", answered);
    asked.addEventListener("error", failed);
    asked.postMessage({ ticket: at, boxes, links } satisfies Asked);
  });
};
