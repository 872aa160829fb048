// The labels of one node, and those that its data gives to others.

import { apiPath, useAnswer, type Answered, type Envelope, type Sensitivity } from "../api";

type Direction = "upstream" | "downstream";

export const sensitivityPath = (node: string, direction: Direction, asOf?: string, format?: string): string =>
  apiPath("sensitivity", { node, direction, at_least: "influenced", as_of: asOf, limit: 1_000, format });

export const useSensitivity = (
  node: string | null,
  direction: Direction,
  asOf?: string,
): Answered<Envelope<Sensitivity>> => useAnswer(node && sensitivityPath(node, direction, asOf));
