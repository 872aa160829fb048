// The dots that the graph stands on. They cover all of it, so that a browser paints it as one layer, not as hundreds.

import { useStore, ViewportPortal, type ReactFlowState } from "@xyflow/react";
import { memo } from "react";
import type { Point, Size } from "../../graph/placement";

const DOTS = 22;
const LEAST_DOTS = 15;
/** As far as one sees around a graph from afar. */
const AROUND = 6_000;

const gapOf = ({ transform }: ReactFlowState): number => {
  let gap = DOTS;
  while (gap * transform[2] < LEAST_DOTS) gap *= 2;
  return gap;
};

export const Background = memo(({ x, y, width, height }: Point & Size) => {
  const gap = useStore(gapOf);
  return (
    <ViewportPortal>
      <div
        className="ground"
        style={{
          left: x - AROUND,
          top: y - AROUND,
          width: width + 2 * AROUND,
          height: height + 2 * AROUND,
          backgroundSize: `${gap}px ${gap}px`,
        }}
      />
    </ViewportPortal>
  );
});
