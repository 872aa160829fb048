// Texts of service level objectives.

import { counted } from "../counted";

const shown = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 2 });

export const slos = {
  title: "Objectives",
  about: "How good the data of datasets has to be, whether it is, and how much of each error budget is left.",
  every: "All objectives",
  none: "No objective is declared that you may see. Write slos.yaml, and run whence slo apply.",
  noneHere: "None is declared.",
  hidden: (count: number) => `${counted(count, "objective", "objectives")} of datasets that you may not see.`,
  state: "State",
  name: "Objective",
  dataset: "Dataset",
  target: "Target",
  left: "Budget left",
  since: "Since",
  open: (notify: string) => `${notify} open`,
  percent: (share: number | null) => (share === null ? "–" : `${(Math.floor(share * 1000) / 10).toFixed(1)} %`),
  targetOf: (target: number | null, days: number | null) =>
    target === null ? "–" : `${shown(target * 100)} % of ${counted(days ?? 0, "day", "days")}`,
  used: "Budget used",
  usedTime: (bad: number, allowed: number) => `${shown(bad / 3600)} of ${shown(allowed / 3600)} open hours`,
  usedCount: (bad: number, allowed: number) => `${shown(bad)} of ${shown(allowed)} occurrences`,
  suppressed: "Does not count",
  indicator: "Indicator",
  observed: "Observed",
  expected: "Expected",
  reason: "Reason",
  declared: "Declared",
  by: "by",
  alerts: "Open alerts",
  budgetChart: "Budget left over the time window",
  burnChart: "Burn rates over the time window",
  burnIn: (seconds: number) => `in ${shown(seconds / 3600)} h`,
  burnAbout: "1 is evenly: the budget would be used up at the end of the time window.",
  remaining: "Budget left",
  numbers: "The numbers",
  when: "Time (UTC)",
  noSeries: "Nothing is known of the budget in this time window.",
  transitions: "Transitions",
  transitionsNone: "None is recorded yet.",
  from: "From",
  to: "To",
  percentAxis: (value: number) => `${Math.round(value * 100)} %`,
  rate: (value: number | null) => (value === null ? "–" : shown(value)),
};
