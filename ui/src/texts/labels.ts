// Texts about sensitivity labels.

import { counted } from "./counted";

export const labels = {
  of: (category: string, grade: string, assumed: boolean) => `${category} ${grade}${assumed ? ", assumed" : ""}`,
  notKnown: (count: number) =>
    `Not known of ${counted(count, "more column", "more columns")}: a job reports no columns, or a node is hidden.`,
  categories: {
    pii: "Personal data",
    phi: "Health data",
    financial: "Financial data",
    sensitive: "Confidential data",
  } as Record<string, string>,
  grades: {
    full: "full",
    pseudonymous: "pseudonymous",
    partial: "partial",
    statistic: "statistic",
    influenced: "influenced",
    none: "none",
  } as Record<string, string>,
  graded: (grade: string, isAssumed: boolean) => (isAssumed ? `${grade}, assumed` : grade),
  means: {
    full: "It shows the values themselves, or what they can be computed from.",
    pseudonymous: "It shows something else for each value, such as a hash. That is still personal data.",
    partial: "It shows a part of each value.",
    statistic: "It shows a number about many values. Of a group of one row it is the value.",
    influenced: "The values decide which rows or which other values there are.",
  } as Record<string, string>,
  assumed: (proven: string) =>
    `Assumed: a step was not read, so it may show less. Certain is ${proven === "none" ? "nothing of it" : proven}.`,
  title: (category: string) => `${category} in a column`,
  none: "none",
  mayHave: "not known",
  noneOf: (name: string) => `No label of this category is known for ${name}.`,
  way: "The way of the data",
  step: "The step that passes it on",
  inside: "The dataset and its columns",
  downstream: "Where its data goes",
  untagged: "No tag marks it as sensitive, so this is where all of its data goes.",
  nowhere: "No known column downstream shows anything of it.",
  csv: "Download as CSV",
  more: (count: number) => `Show ${count.toLocaleString("en")} more`,
  incomplete: "Not all is known: a job reports no columns, or a budget stopped the search.",
  column: "Sensitive data",
};
