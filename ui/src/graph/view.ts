// The viewport of the camera, and the corner for the minimap. Pure; imports only types.

import type { Point, Size } from "./placement";

export interface View extends Point {
  zoom: number;
}
export interface Limits {
  /** Below this zoom text is unreadable: then a part of the graph is shown, larger. */
  least: number;
  most: number;
  /** Room around the graph. */
  edge: number;
}

/** The middle of a window over `from … from + length` that has `wanted` near its middle and shows nothing beyond. */
const within = (wanted: number, from: number, length: number, window: number, edge: number): number => {
  const half = window / 2 - edge;
  return length <= 2 * half ? from + length / 2 : Math.min(Math.max(wanted, from + half), from + length - half);
};

/** The whole graph centred on the stage, or the area around a point if that would be too small. */
export const viewOf = (all: Point & Size, stage: Size, around: Point | undefined, limits: Limits): View => {
  const { least, most, edge } = limits;
  const whole = Math.min(stage.width / (all.width + 2 * edge), stage.height / (all.height + 2 * edge));
  const zoom = around && whole <= least ? least : Math.min(whole, most);
  const isPart = around !== undefined && zoom > whole;
  const middle = { x: all.x + all.width / 2, y: all.y + all.height / 2 };
  const at = isPart
    ? {
        x: within(around.x, all.x, all.width, stage.width / zoom, edge),
        y: within(around.y, all.y, all.height, stage.height / zoom, edge),
      }
    : middle;
  return { x: stage.width / 2 - at.x * zoom, y: stage.height / 2 - at.y * zoom, zoom };
};

export type Corner = "top-right" | "top-left";
const CORNERS: readonly Corner[] = ["top-right", "top-left"];

/** The corner of the stage where a minimap of a size covers the smallest area of boxes. */
export const freeCorner = (boxes: readonly (Point & Size)[], view: View, stage: Size, map: Size): Corner => {
  const covered = CORNERS.map((corner) => {
    const left = corner === "top-left" ? 0 : stage.width - map.width;
    return boxes.reduce((sum, box) => sum + shared(box, view, left, map), 0);
  });
  return covered[1]! < covered[0]! ? "top-left" : "top-right";
};

const shared = (box: Point & Size, { x, y, zoom }: View, left: number, map: Size): number => {
  const [from, top] = [x + box.x * zoom, y + box.y * zoom];
  const width = Math.min(from + box.width * zoom, left + map.width) - Math.max(from, left);
  const height = Math.min(top + box.height * zoom, map.height) - Math.max(top, 0);
  return Math.max(0, width) * Math.max(0, height);
};
