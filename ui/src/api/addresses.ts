// Paths of API requests, relative to any page of the UI.

export type Values = Record<string, string | number | undefined | null>;

/** The path of a request. */
export const apiPath = (path: string, values: Values = {}): string => {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values))
    if (value !== undefined && value !== null && value !== "") query.set(key, String(value));
  const text = query.toString();
  return `../api/v2/${path}${text ? `?${text}` : ""}`;
};

/** The signed pack that proves the lineage of a node. */
export const evidencePath = (node: string, asOf?: string): string => apiPath("evidence", { node, as_of: asOf });

export const entryPath = (kind: "datasets" | "jobs", namespace: string, name: string, rest = ""): string =>
  `../api/v2/${kind}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}${rest}`;
