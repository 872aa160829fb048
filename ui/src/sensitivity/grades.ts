// The grades of sensitivity labels as marks: a colour, a shape and a word for each.

import type { Mark } from "../explorer/lens";
import { words } from "../texts";

export const CATEGORIES = ["pii", "phi", "financial", "sensitive"] as const;
export type Category = (typeof CATEGORIES)[number];
export const isCategory = (text: string | undefined): text is Category => CATEGORIES.some((one) => one === text);

/** The highest first. */
export const GRADES = ["full", "pseudonymous", "partial", "statistic", "influenced"] as const;
export type Grade = (typeof GRADES)[number];

const MARKS: Record<Grade, Omit<Mark, "text">> = {
  full: { tone: "bad", icon: "shield" },
  pseudonymous: { tone: "warn", icon: "mask" },
  partial: { tone: "violet", icon: "triangle" },
  statistic: { tone: "teal", icon: "sum" },
  influenced: { tone: "indigo", icon: "diamond" },
};

export const NO_LABEL: Mark = { tone: "none", icon: "dash", text: words.labels.none };
export const NOT_KNOWN: Mark = { tone: "none", icon: "ring", text: words.labels.mayHave };

/** What is assumed has a broken border, and its own line in the legend. */
export const gradeMark = (grade: string, isAssumed: boolean): Mark => {
  const known = GRADES.find((one) => one === grade);
  if (!known) return NO_LABEL;
  const text = words.labels.graded(words.labels.grades[known] ?? known, isAssumed);
  return { ...MARKS[known], text, isAssumed };
};
