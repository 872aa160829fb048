// A line: solid where values flow, dashed for influence, dotted if only inferred.

import { BaseEdge, getBezierPath, type Edge, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import type { Line } from "../graph/model";

export type LineEdge = Edge<{ line?: Line; isSelected: boolean }, "line">;

export const LineView = memo(
  ({ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, data, markerEnd }: EdgeProps<LineEdge>) => {
    const [path] = getBezierPath({
      sourceX,
      sourceY,
      targetX,
      targetY,
      sourcePosition,
      targetPosition,
      curvature: 0.32,
    });
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
