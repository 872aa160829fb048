// The addresses of questions, relative to any page of the UI.

export type Values = Record<string, string | number | undefined | null>;

/** The address of a question. */
export const asked = (path: string, values: Values = {}): string => {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values))
    if (value !== undefined && value !== null && value !== "") query.set(key, String(value));
  const text = query.toString();
  return `../api/v2/${path}${text ? `?${text}` : ""}`;
};

export const named = (kind: "datasets" | "jobs", namespace: string, name: string, rest = ""): string =>
  `../api/v2/${kind}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}${rest}`;
