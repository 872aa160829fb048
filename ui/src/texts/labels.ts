// Texts about sensitivity labels.

import { counted } from "./counted";

export const labels = {
  of: (category: string, grade: string, assumed: boolean) => `${category} ${grade}${assumed ? ", assumed" : ""}`,
  notKnown: (count: number) =>
    `Not known of ${counted(count, "more column", "more columns")}: a job reports no columns, or a node is hidden.`,
};
