// The address of the page of what changed upstream.

import { pageAddress } from "../address";

export interface ChangesAsked {
  node: string;
  since: string;
  asOf?: string;
  /** Only changes of this kind. */
  kind?: string;
}

const DEFAULT = "24h";

export const changesAddress = ({ node, since, asOf, kind }: Partial<ChangesAsked> & { node: string }): string =>
  pageAddress("changes", {
    node,
    ...(since && since !== DEFAULT ? { since } : {}),
    ...(asOf ? { as_of: asOf } : {}),
    ...(kind ? { kind } : {}),
  });

export const changesAsked = (query: URLSearchParams): ChangesAsked => ({
  node: query.get("node") ?? "",
  since: query.get("since") ?? DEFAULT,
  asOf: query.get("as_of") ?? undefined,
  kind: query.get("kind") ?? undefined,
});
