// A line: solid where values flow, dashed for influence, dotted if only inferred.

import { BaseEdge, getBezierPath, type Edge, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import type { Line } from "../graph/model";
import { LAYER_GAP, WIDTH } from "../graph/place";

export type LineEdge = Edge<{ line?: Line; isSelected: boolean }, "line">;

/** Between boxes of one column: round their right sides, for the way to the left side would go over both. */
const bracket = (sourceX: number, sourceY: number, right: number, targetY: number): string => {
  const reach = Math.max(sourceX, right) + Math.min(LAYER_GAP - 12, 20 + Math.abs(targetY - sourceY) / 4);
  return `M${sourceX},${sourceY} C${reach},${sourceY} ${reach},${targetY} ${right},${targetY}`;
};

export const LineView = memo(
  ({ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, data, markerEnd }: EdgeProps<LineEdge>) => {
    const [curve] = getBezierPath({
      sourceX,
      sourceY,
      targetX,
      targetY,
      sourcePosition,
      targetPosition,
      curvature: 0.32,
    });
    const right = targetX + WIDTH;
    const path = Math.abs(right - sourceX) < LAYER_GAP ? bracket(sourceX, sourceY, right, targetY) : curve;
    const line = data?.line;
    const marks = [
      line ? `flow-${line.flow}` : "flow-stub",
      line?.faded && "faded",
      line?.fate && `fate-${line.fate}`,
      data?.isSelected && "selected",
    ]
      .filter(Boolean)
      .join(" ");
    return <BaseEdge path={path} className={`line ${marks}`} markerEnd={markerEnd} interactionWidth={18} />;
  },
);
