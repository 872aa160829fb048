// Node ids, as the API writes them, and how people read them.

import type { Dataset } from "./api";
import { words } from "./texts";

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

export const isNodeId = (id: string): boolean => /^(dataset|datasetField|job):.*:./s.test(id);

export const datasetId = (namespace: string, name: string): string => `dataset:${namespace}:${escaped(name)}`;

export const fieldId = (dataset: string, field: string): string =>
  `datasetField${dataset.slice("dataset".length)}:${escaped(field)}`;

/** The dataset that a field is of; any other node itself. */
export const boxOf = (id: string): string => {
  const name = parseName(id);
  return name.kind === "field" ? datasetId(name.namespace, name.name) : id;
};

// The pseudonyms of names that the viewer may not see (query/visibility/pseudonyms.py).
const TOKEN = /^[0-9a-f]{20}$/;
const HIDDEN_NAMESPACE = "hidden";

/** A column whose name the viewer may not see. */
export const isHiddenField = (field: string): boolean => field.startsWith("hidden-") && TOKEN.test(field.slice(7));

/** A run or an event of a job that the viewer may not see. */
export const isHiddenKey = (key: string): boolean => TOKEN.test(key);

/** A node that the viewer may not see; only its existence is known. */
export const isHidden = (id: string): boolean => {
  const { namespace, name, field } = parseName(id);
  return (namespace === HIDDEN_NAMESPACE && TOKEN.test(name)) || (field !== undefined && isHiddenField(field));
};

const FILES = /^(s3a?|gs|gcs|abfss?|wasbs?|hdfs|dbfs|file|sftp|ftp)(:|$)/i;

// The separator before the last part of a name. The dot of a file name is not a separator.
const cut = (namespace: string, name: string): number => {
  const trimmed = name.replace(/\/+$/, "");
  const slash = trimmed.lastIndexOf("/");
  return slash >= 0 ? slash : trimmed.includes(" ") || FILES.test(namespace) ? -1 : trimmed.lastIndexOf(".");
};

// A path of partitions (`orders/date=2026-11-23/hour=07`) is called by its table, with the partitions behind it.
const partitions = (name: string): number => /\/[^/=]+=[^/=]*(\/[^/=]+=[^/=]*)*\/?$/.exec(name)?.index ?? name.length;

/** The last part of a name: what people call it. */
export const shortName = (id: string): string => {
  const { namespace, name, field, kind } = parseName(id);
  if (isHidden(id)) return words.hidden.names[kind] ?? kind;
  if (field !== undefined) return field;
  const whole = name.slice(0, partitions(name));
  return whole.slice(cut(namespace, whole) + 1) || name;
};

/** The name of a column with that of its dataset; of any other node its short one. */
export const wholeName = (id: string): string =>
  parseName(id).kind === "field" ? `${shortName(boxOf(id))}.${shortName(id)}` : shortName(id);

/** Where a node is: the kind of system, which one of them, and the path within it. */
export interface Place {
  system: string;
  instance: string;
  path: string;
}

export const placeOf = (id: string): Place => {
  const { namespace, name, kind, field } = parseName(id);
  const scheme = namespace.indexOf("://");
  const [whole, parts] = [name.slice(0, partitions(name)), name.slice(partitions(name) + 1)];
  const above = whole.slice(0, Math.max(0, cut(namespace, whole)));
  const path = field === undefined ? [above, parts].filter(Boolean).join(" · ") : name;
  if (kind === "job") return { system: "", instance: namespace, path };
  return scheme < 0
    ? { system: namespace, instance: "", path }
    : { system: namespace.slice(0, scheme), instance: namespace.slice(scheme + 3), path };
};

/** The text before the last part, which distinguishes all places. */
export const place = (id: string): string => {
  if (isHidden(id)) return words.hidden.noAccess;
  const { system, instance, path } = placeOf(id);
  return [system, instance, path].filter(Boolean).join(" · ");
};

/** All of a name, for a title. */
export const fullName = (id: string): string => {
  if (isHidden(id)) return words.hidden.ask;
  const { namespace, name, field } = parseName(id);
  return [namespace, name, field].filter((one) => one !== undefined).join(" ");
};

export type Type = "table" | "view" | "file" | "topic" | "dashboard" | "model" | "dataset" | "field" | "job";

const SYSTEMS: readonly [RegExp, Type][] = [
  [FILES, "file"],
  [/^(kafka|pulsar|kinesis|pubsub|eventhubs?|rabbitmq|nats)$/i, "topic"],
  [/^(looker|tableau|powerbi|superset|metabase|mode|quicksight|qlik|grafana)$/i, "dashboard"],
  [/^(mlflow|sagemaker|vertexai)$/i, "model"],
  [
    /^(postgres(ql)?|mysql|mariadb|snowflake|bigquery|redshift|oracle|sqlserver|mssql|athena|trino|presto|hive|duckdb|sqlite|clickhouse|teradata|db2|databricks|unitycatalog|awsglue|arn|spanner|cockroach|vertica|iceberg)$/i,
    "table",
  ],
];
const REPORTED_TYPES: Record<string, Type> = {
  table: "table",
  view: "view",
  materialized_view: "view",
  file: "file",
  topic: "topic",
  stream: "topic",
  dashboard: "dashboard",
  report: "dashboard",
  chart: "dashboard",
  model: "model",
};
const reportedTypes = new Map<string, Type>();

/** Store the type that producers report of a dataset. */
export const learnType = (id: string, reported: string): void => {
  const type = REPORTED_TYPES[reported.toLowerCase()];
  if (type) reportedTypes.set(boxOf(id), type);
};

/** The type of a node: as reported by its producers, else by the kind of its system. */
export const typeOf = (id: string): Type => {
  const { kind, namespace } = parseName(id);
  if (kind !== "dataset") return kind;
  const system = /^[a-z][a-z0-9+.-]*/i.exec(namespace)?.[0] ?? "";
  return reportedTypes.get(id) ?? SYSTEMS.find(([pattern]) => pattern.test(system))?.[1] ?? "dataset";
};

/** The columns of a dataset: of its schema, or if nobody reported one, those that lineage names. */
export const columnsOf = (dataset: Dataset): Dataset["fields"] =>
  dataset.fields.length ? dataset.fields : dataset.lineage_columns.map((name) => ({ name, type: "", description: "" }));
