// Graphviz as WASM, in a worker: the API's Content-Security-Policy allows WASM only here.

import { instance } from "@viz-js/viz";
import { LAYER_GAP, ROW_GAP, type Link, type Point, type Sized } from "./placement";

export interface LayoutRequest {
  ticket: number;
  boxes: Sized[];
  links: Link[];
}
export interface Tidied {
  ticket: number;
  places: [string, Point][];
}

const INCH = 72;

self.onmessage = async ({ data }: MessageEvent<LayoutRequest>) => {
  const viz = await instance();
  const text = viz.renderString(dot(data), { format: "plain", engine: "dot" });
  self.postMessage({ ticket: data.ticket, places: read(text, data.boxes) } satisfies Tidied);
};

// Boxes and lines are sent as numbers, so no name can be misread as DOT.
const dot = ({ boxes, links }: LayoutRequest): string => {
  const number = new Map(boxes.map((one, place) => [one.id, place]));
  const nodes = boxes.map((one, place) => `${place} [width=${one.width / INCH},height=${one.height / INCH}]`);
  const lines = links.flatMap(({ source, target }) => {
    const [from, to] = [number.get(source), number.get(target)];
    return from === undefined || to === undefined || from === to ? [] : [`${from}->${to}`];
  });
  const head = `rankdir=LR;nodesep=${ROW_GAP / INCH};ranksep=${LAYER_GAP / INCH};node[shape=box,fixedsize=true,label=""]`;
  return `digraph{${head};${[...nodes, ...lines].join(";")}}`;
};

const read = (text: string, boxes: readonly Sized[]): [string, Point][] => {
  const rows = text.split("\n").map((row) => row.split(" "));
  const height = Number(rows.find(([word]) => word === "graph")?.[3] ?? 0);
  return rows.flatMap(([word, place, x, y]): [string, Point][] => {
    const box = word === "node" ? boxes[Number(place)] : undefined;
    if (!box) return [];
    return [
      [
        box.id,
        {
          x: Math.round(Number(x) * INCH - box.width / 2),
          y: Math.round((height - Number(y)) * INCH - box.height / 2),
        },
      ],
    ];
  });
};
