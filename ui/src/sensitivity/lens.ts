// The lens over the graph that marks what shows sensitive data of a category.

import type { Traits } from "../api";
import type { Lensed, Mark } from "../explorer/lens";
import type { Picture } from "../graph/model";
import { fieldId } from "../names";
import { gradeMark, NO_LABEL, NOT_KNOWN } from "./grades";

type Label = Traits["labels"][number];

const markOf = (label: Label): Mark => (label.grade === "none" ? NOT_KNOWN : gradeMark(label.grade, label.assumed));

/** The marks of the boxes and of all their columns. */
export const labelled = (picture: Picture, traits: ReadonlyMap<string, Traits>): Omit<Lensed, "legend"> => {
  const marks = new Map<string, Mark>();
  const columns = new Map<string, Mark>();
  for (const box of picture.boxes) {
    if (box.kind !== "dataset") continue;
    marks.set(box.id, NO_LABEL);
    for (const one of traits.get(box.id)?.labels ?? [])
      if (one.column) columns.set(fieldId(box.id, one.column), markOf(one));
      else marks.set(box.id, markOf(one));
  }
  return { marks, columns };
};
