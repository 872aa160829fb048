// The completeness of the picture, with reasons, below the graph.

import type { Explored } from "../address";
import { JobsBelow } from "../components/JobsBelow";
import { boxOf, parseName, shortName } from "../names";
import { words } from "../texts";
import type { Seen } from "./answers";
import { MOST_BOXES } from "./canvas/elements";

/** Whether nothing but the depth of the question, which "+" extends, limits an answer. */
const isWhole = ({ stopped_by }: Seen["extents"][number]): boolean => !stopped_by || stopped_by === "depth";

/** The share of the nodes that the picture shows. */
const shownOf = ({ picture, trace, extents, noPath }: Seen, explored: Explored): string[] => {
  if (explored.pathTo) return noPath || !extents.length ? [] : [words.explorer.wholePath(extents[0]!.complete)];
  const focus = trace?.complete && explored.focus ? shortName(explored.focus) : "";
  const traced = focus ? [words.explorer.wholeTrace(focus)] : [];
  const folded = picture.stubs.map(({ of, side, count, atLeast }) => {
    const ends = picture.lines.flatMap(({ source, target }) => (side === "up" ? [target, source] : [source, target]));
    const drawn = new Set(ends.filter((_, at) => at % 2 === 1 && ends[at - 1] === of));
    return words.explorer.showing(drawn.size, count, atLeast, side, shortName(of));
  });
  const more = picture.boxes.filter((box) => Object.values(box.beyond).includes("more")).length;
  if (more && focus) return [...folded, words.explorer.wholeTraceOf(focus, more)];
  if (more) return [...folded, words.explorer.moreBeyond(more)];
  if (folded.length || traced.length) return [...traced, ...folded];
  if (!extents.length || !extents.every(isWhole)) return [];
  return [explored.shut.length ? words.explorer.partly : words.explorer.complete(shortName(explored.node))];
};

/** The reasons why the picture is incomplete. */
const reasonsOf = ({ extents, picture, gaps }: Seen): string[] => {
  const stops = new Set(extents.flatMap((one) => one.stopped_by ?? []));
  stops.delete("depth");
  // A counted hop shows its own count.
  if (picture.stubs.length) stops.delete("nodes");
  if (gaps.length) stops.delete("columns");
  const reasons = [...stops].map((one) => words.explorer.stoppedBy[one] ?? one);
  const places = new Set(gaps.map((gap) => boxOf(gap.at)));
  return places.size ? [...reasons, words.explorer.gaps(places.size)] : reasons;
};

/** Whether the picture is of a job for which nothing is upstream or downstream. */
const isAlone = ({ picture, waiting, problem, extents }: Seen, { node, pathTo }: Explored): boolean =>
  !pathTo && !waiting && !problem && extents.length > 0 && !picture.lines.length && parseName(node).kind === "job";

export const CompletenessBar = ({ seen, explored }: { seen: Seen; explored: Explored }) => {
  const reasons = reasonsOf(seen);
  const gapsWhy = new Set(seen.gaps.map((gap) => words.explorer.gapsWhy[gap.reason]?.(shortName(gap.owner))));
  const hidden = seen.extents.reduce((sum, one) => sum + one.hidden_nodes, 0);
  const isUnread = seen.problem && seen.problem.status !== 404;
  return (
    <footer className="standing" aria-live="polite">
      {isUnread && <span className="warn">{words.explorer.unread(seen.problem?.message ?? "")}</span>}
      {!seen.problem && reasons.length > 0 && (
        <span className="warn" title={[...gapsWhy].join("\n") || undefined}>
          {words.explorer.incomplete(reasons.join(", "))}
        </span>
      )}
      {!seen.problem &&
        (seen.waiting && !seen.extents.length ? (
          <span>{words.explorer.asking}</span>
        ) : (
          shownOf(seen, explored).map((one) => <span key={one}>{one}</span>)
        ))}
      {isAlone(seen, explored) && <JobsBelow job={explored.node} />}
      {hidden > 0 && <span title={words.hidden.ask}>{words.explorer.hidden(hidden)}</span>}
      {seen.picture.boxes.length > MOST_BOXES && <span className="warn">{words.explorer.capped(MOST_BOXES)}</span>}
      {seen.extents[0] && (
        <span className="standing-position">
          {words.explorer.position} <code>{seen.extents[0].graph_version}</code>
        </span>
      )}
    </footer>
  );
};
