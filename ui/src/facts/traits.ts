// The traits of the boxes of a picture, loaded in batches.

import { useMemo } from "react";
import { apiPath, identity, useAnswers, type Traits } from "../api";
import { isHidden, learnType } from "../names";

const AT_ONCE = 40;

const addresses = (ids: readonly string[], asOf: string | undefined, label: string | undefined): string[] =>
  Array.from({ length: Math.ceil(ids.length / AT_ONCE) }, (_, at) => {
    const query = new URLSearchParams(ids.slice(at * AT_ONCE, (at + 1) * AT_ONCE).map((node) => ["node", node]));
    if (asOf) query.set("as_of", asOf);
    if (label) query.set("label", label);
    return `${apiPath("traits")}?${query}`;
  });

/** Traits by node, of those that have any, with the labels of a category; undefined while they are loaded. */
export const useTraits = (
  nodes: readonly string[],
  asOf?: string,
  label?: string,
): ReadonlyMap<string, Traits> | undefined => {
  const all = addresses(
    nodes.filter((id) => !isHidden(id)),
    asOf,
    label,
  );
  const answers = useAnswers<{ data: Traits[] }>(all);
  const key = all.join("\n") + identity(answers);
  return useMemo(() => {
    if (answers.some((one) => one.waiting)) return undefined;
    const known = answers.flatMap((one) => one.answer?.data ?? []);
    for (const one of known) for (const type of one.types) learnType(one.node, type);
    return new Map(known.map((one) => [one.node, one]));
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the key says which answers there are
  }, [key]);
};
