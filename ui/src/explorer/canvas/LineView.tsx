// A line: solid where values flow, dashed for influence, dotted if only inferred.

import { BaseEdge, type Edge, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import type { Line } from "../../graph/model";
import { WIDTH } from "../../graph/placement";
import { drawnPath, type Route } from "../../graph/route";

export type LineEdge = Edge<{ line?: Line; isSelected: boolean; route?: Route }, "line">;

export const LineView = memo(({ sourceX, sourceY, targetX, targetY, data, markerEnd }: EdgeProps<LineEdge>) => {
  const path = drawnPath(data?.route, { x: sourceX, y: sourceY }, { x: targetX, y: targetY }, WIDTH);
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
});
