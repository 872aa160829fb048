// Node ids, as the API writes them, and how people read them.

export type Kind = "dataset" | "field" | "job";

export interface Name {
  id: string;
  kind: Kind;
  namespace: string;
  name: string;
  field?: string;
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const escaped = (text: string): string => text.replaceAll("%", "%25").replaceAll(":", "%3A");

export const parseName = (id: string): Name => {
  const colon = id.indexOf(":");
  const kind = id.slice(0, colon);
  const parts = id.slice(colon + 1).split(":");
  if (kind === "datasetField") {
    const [field, name] = [parts.pop() ?? "", parts.pop() ?? ""];
    return { id, kind: "field", namespace: parts.join(":"), name: decoded(name), field: decoded(field) };
  }
  const name = decoded(parts.pop() ?? "");
  return { id, kind: kind === "job" ? "job" : "dataset", namespace: parts.join(":"), name };
};

export const datasetId = (namespace: string, name: string): string => `dataset:${namespace}:${escaped(name)}`;

export const fieldId = (dataset: string, field: string): string =>
  `datasetField${dataset.slice("dataset".length)}:${escaped(field)}`;

/** The dataset that a field is of; any other node itself. */
export const boxOf = (id: string): string => {
  const name = parseName(id);
  return name.kind === "field" ? datasetId(name.namespace, name.name) : id;
};

const cut = (name: string): number => {
  const trimmed = name.replace(/\/+$/, "");
  const slash = trimmed.lastIndexOf("/");
  return slash >= 0 ? slash : trimmed.includes(" ") ? -1 : trimmed.lastIndexOf(".");
};

const FITTING = 27;

/** The end of a place that does not fit into a box: its beginning is what many places share. */
export const tailOf = (text: string): string =>
  text.length > FITTING ? `…${text.slice(-FITTING).replace(/^[^./]*(?=[./])/, "")}` : text;

/** The last part of a name: what people call it. */
export const shortName = (id: string): string => {
  const { name, field } = parseName(id);
  return field ?? name.slice(cut(name) + 1);
};

/** What comes before the last part, after the kind of system that has it. */
export const place = (id: string): string => {
  const { namespace, name, kind, field } = parseName(id);
  const scheme = namespace.includes("://") ? namespace.slice(0, namespace.indexOf("://")) : namespace;
  const path = field === undefined ? name.slice(0, Math.max(0, cut(name))) : name;
  return [kind === "job" ? namespace : scheme, path].filter(Boolean).join(" · ");
};

export const systemOf = (id: string): string => {
  const { namespace } = parseName(id);
  return namespace.includes("://") ? namespace.slice(0, namespace.indexOf("://")) : namespace;
};
