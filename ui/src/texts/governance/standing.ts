// Texts about which datasets may be relied on.

export const standing = {
  names: { certified: "certified", canonical: "canonical" } as Record<string, string>,
  reads: "It reads a dataset that has a preferred twin: the same columns by the same formulas.",
  instead: "Prefer",
  hiddenOnes: "The preferred one is hidden from you.",
  isOther: "There are two truths: this dataset is derived in the same way as one that is preferred.",
  undecided: "There are two truths: this dataset is derived in the same way as others, and none of them is preferred.",
  evidence: "Evidence pack",
  evidenceTitle: "Download the signed pack that proves the lineage of this dataset",
};
