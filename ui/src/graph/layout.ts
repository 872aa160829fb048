// Requests a layout from the worker; without an answer in time, uses our own placement.

import { placed, type Link, type Point, type Sized } from "./placement";
import type { LayoutRequest, Tidied } from "./layout.worker";

const PATIENCE = 4_000;
let worker: Worker | undefined;
let tickets = 0;

export const tidy = (boxes: Sized[], links: Link[]): Promise<Map<string, Point>> => {
  const own = () => placed(boxes, links, new Map());
  if (boxes.length < 2) return Promise.resolve(own());
  worker ??= new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  const [current, at] = [worker, ++tickets];
  return new Promise((resolve) => {
    const end = (places: Map<string, Point>) => {
      clearTimeout(timer);
      current.removeEventListener("message", answered);
      current.removeEventListener("error", failed);
      resolve(places);
    };
    const answered = ({ data }: MessageEvent<Tidied>) => {
      if (data.ticket === at) end(new Map(data.places));
    };
    const failed = () => end(own());
    const timer = setTimeout(failed, PATIENCE);
    current.addEventListener("message", answered);
    current.addEventListener("error", failed);
    current.postMessage({ ticket: at, boxes, links } satisfies LayoutRequest);
  });
};
