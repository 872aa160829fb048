// Answers as files.

import type { Envelope, Impact } from "../../api";
import { place, shortName } from "../../names";
import { words } from "../../texts";

export const save = (name: string, type: string, text: string | Blob): void => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name.replaceAll(/[/\\]/g, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

// Names are untrusted text: Markdown markup in them is escaped.
const plain = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]<>()#+|!~-]/g, (one) => `\\${one}`).replaceAll(/\s+/g, " ");

export const impactMarkdown = ({ data, completeness }: Envelope<Impact>, link: string): string => {
  const rows = data.nodes.map(
    (one) =>
      `| ${plain(shortName(one.node))} | ${plain(place(one.node))} | ${plain(one.type)} | ${plain(one.owners.join(", "))} | ${one.tier} | ${one.distance} |`,
  );
  return [
    `**Impact of ${plain(shortName(data.root))}** (${plain(place(data.root))}): ${data.counts.nodes} ${words.impact.nodes}, ${words.impact.jobs(data.counts.jobs)}`,
    data.counts.checks ? `\n${words.impact.checks(data.counts.checks)}.` : "",
    completeness?.complete ? "" : `\nIncomplete: stopped by ${completeness?.stopped_by}.`,
    "",
    "| Name | Where | Type | Owners | Tier | Hops |",
    "|-|-|-|-|-|-|",
    ...rows,
    "",
    `As of log position ${completeness?.graph_version}. [Open](${link})`,
    "",
  ].join("\n");
};
