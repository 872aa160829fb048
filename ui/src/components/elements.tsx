// Small components that all pages share.

import type { ReactNode } from "react";
import type { Answered } from "../api";
import { go, lineageAddress, pageAddress } from "../address";
import { fullName, isHidden, isHiddenKey, parseName, shortName, typeOf, wholeName } from "../names";
import { words } from "../texts";
import { WhereView } from "./location";

const SHAPES: Record<string, ReactNode> = {
  dataset: (
    <>
      <ellipse cx="8" cy="4" rx="5" ry="2" />
      <path d="M3 4v8c0 1.100 2.200 2 5 2s5-.900 5-2V4M3 8c0 1.100 2.200 2 5 2s5-.900 5-2" />
    </>
  ),
  table: <path d="M2.500 3.500h11v9h-11zM2.500 6.500h11M6.500 6.500v6M10 6.500v6" />,
  view: (
    <>
      <path d="M1.500 8c2.500-5 10.500-5 13 0-2.500 5-10.500 5-13 0z" />
      <circle cx="8" cy="8" r="2" />
    </>
  ),
  file: <path d="M4 2.500h5.500L12.500 5.500v8H4zM9.500 2.500v3h3M6 8.500h4.500M6 11h4.500" />,
  topic: <path d="M2.500 4.500h11M2.500 8h11M2.500 11.500h11M5 3v3M10 6.500v3M7 10v3" />,
  dashboard: <path d="M2.500 2.500h11v11h-11zM5.500 11V8M8 11V5M10.500 11V7" />,
  model: (
    <>
      <circle cx="3.500" cy="4.500" r="1.500" />
      <circle cx="3.500" cy="11.500" r="1.500" />
      <circle cx="8.500" cy="8" r="1.500" />
      <circle cx="13" cy="8" r="1.200" />
      <path d="M4.800 5.300l2.500 1.800M4.800 10.700l2.500-1.800M10 8h1.800" />
    </>
  ),
  lock: <path d="M4 7.500h8v6H4zM5.500 7.500V5.500a2.500 2.500 0 0 1 5 0v2M8 10v1.500" />,
  field: <path d="M5.500 2.500h5v11h-5zM5.500 6h5M5.500 9.500h5" />,
  job: <path d="M5 3.500v9l7-4.500z" />,
  run: (
    <>
      <circle cx="8" cy="8" r="5.500" />
      <path d="M8 5v3l2 1.500" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.500" />
      <path d="m10.500 10.500 3 3" />
    </>
  ),
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  impact: (
    <>
      <path d="M2.500 8h4M6.500 8c3 0 2-4 5-4h2M6.500 8c3 0 2 4 5 4h2M6.500 8h7" />
    </>
  ),
  path: (
    <>
      <circle cx="3.500" cy="12" r="1.500" />
      <circle cx="12.500" cy="4" r="1.500" />
      <path d="M5 12h4a2 2 0 0 0 0-4H7a2 2 0 0 1 0-4h4" />
    </>
  ),
  tidy: <path d="M3 4h4v3H3zM3 10h4v3H3zM10 7h3v3h-3zM7 5.500h1.500v3H10M7 11.500h1.500v-3" />,
  fit: <path d="M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3" />,
  link: (
    <path d="M6.500 9.500 9.500 6.500M7 4.500l1-1a3 3 0 0 1 4.500 4.500l-1 1M9 11.500l-1 1A3 3 0 0 1 3.500 8l1-1" />
  ),
  refresh: <path d="M13 8a5 5 0 1 1-1.500-3.500M13 2.500V5h-2.500" />,
  graph: (
    <>
      <circle cx="3.500" cy="8" r="1.500" />
      <circle cx="12.500" cy="4" r="1.500" />
      <circle cx="12.500" cy="12" r="1.500" />
      <path d="M5 7.500 11 4.500M5 8.500l6 3" />
    </>
  ),
  list: <path d="M5.500 4H13M5.500 8H13M5.500 12H13M3 4h.01M3 8h.01M3 12h.01" />,
  board: <path d="M2.500 13.500h11M4 11V8M8 11V3M12 11V6" />,
  more: <path d="M3.500 8h.01M8 8h.01M12.500 8h.01" strokeWidth="2.500" />,
  lens: (
    <>
      <circle cx="8" cy="8" r="5" />
      <circle cx="8" cy="8" r="1.500" />
    </>
  ),
  image: <path d="M2.500 3.500h11v9h-11zM2.500 10.500l3-3 3 3 2-2 3 3M10.500 6h.01" />,
  person: (
    <>
      <circle cx="8" cy="5.500" r="2.500" />
      <path d="M3 13.500c.600-2.800 2.500-4 5-4s4.400 1.200 5 4" />
    </>
  ),
  key: (
    <>
      <circle cx="5" cy="11" r="2.500" />
      <path d="m7 9 6-6M10.500 5.500l2 2" />
    </>
  ),
  shield: <path d="M8 2.500 13 4v4c0 3-2 4.700-5 5.500C5 12.700 3 11 3 8V4z" />,
  bell: <path d="M4 11V7.500a4 4 0 0 1 8 0V11l1.200 1.500H2.800zM6.800 14h2.400" />,
  silent: <path d="M4 11V7.500a4 4 0 0 1 6.500-3M12 7v4l1.200 1.500H5M6.800 14h2.400M2.500 13.500l11-11" />,
  flag: <path d="M4 14V2.500M4 3h8.500l-2 3 2 3H4" />,
  log: <path d="M4 2.500h8v11H4zM6 5.500h4M6 8h4M6 10.500h2" />,
  edit: <path d="M3 13l.700-2.700 7-7 2 2-7 7zM9.500 4.500l2 2" />,
  leave: <path d="M9 3H3.500v10H9M7 8h6.500M11 5.500 13.500 8 11 10.500" />,
  save: <path d="M8 2.500v7M5 7l3 3 3-3M3 13h10" />,
  down: <path d="m4.500 6.500 3.500 3.500 3.500-3.500" />,
  right: <path d="m6.500 4.500 3.500 3.500-3.500 3.500" />,
  sun: (
    <>
      <circle cx="8" cy="8" r="2.800" />
      <path d="M8 2v1M8 13v1M2 8h1M13 8h1M3.800 3.800l.7.7M11.500 11.500l.7.7M12.200 3.800l-.7.7M4.500 11.500l-.7.7" />
    </>
  ),
  moon: <path d="M12.500 9.500A5 5 0 0 1 6.500 3.500a5 5 0 1 0 6 6z" />,
  open: <path d="M9 3h4v4M13 3 7.500 8.500M11 9.500V13H3V5h3.500" />,
  plus: <path d="M8 4v8M4 8h8" />,
  minus: <path d="M4 8h8" />,
  check: <path d="m3.500 8.500 3 3 6-7" />,
  change: <path d="M4 2v12M7.500 4.500H13M7.500 8h4M7.500 11.500H13M4 4.500h.01M4 8h.01M4 11.500h.01" />,
  keys: <path d="M2.500 4.500h11v7h-11zM5 9.500h6M5 7h.01M8 7h.01M11 7h.01" />,
};

export const Icon = ({ name, size = 16 }: { name: string; size?: number }) => (
  <svg className="icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
    {SHAPES[name]}
  </svg>
);

export const Glyph = ({ type }: { type: string }) => (
  <span className={`glyph glyph-${type}`} title={words.types[type]}>
    <Icon name={type === "hidden" ? "lock" : type} />
  </span>
);

/** The sign of what a node is, or a lock. */
export const NodeGlyph = ({ id }: { id: string }) => <Glyph type={isHidden(id) ? "hidden" : typeOf(id)} />;

/** A link inside the UI that works with all ways of the browser to open links. */
export const Go = ({
  to,
  children,
  className,
  label,
  title,
  isCurrent,
}: {
  to: string;
  children: ReactNode;
  className?: string;
  label?: string;
  title?: string;
  /** Of pages that stand side by side: the one that is open. */
  isCurrent?: boolean;
}) => (
  <a
    href={to}
    aria-current={isCurrent ? "page" : undefined}
    className={className}
    aria-label={label}
    title={title}
    onClick={(event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      go(to);
    }}
  >
    {children}
  </a>
);

interface NodeLinkProps {
  id: string;
  lineage?: boolean;
  whole?: boolean;
}

/** A node by name and place. Hidden nodes have no link. */
export const NodeLink = ({ id, lineage = false, whole = false }: NodeLinkProps) => {
  const text = (
    <>
      <NodeGlyph id={id} />
      <span className="node-link-text">
        <span className="node-link-name">{whole ? wholeName(id) : shortName(id)}</span>{" "}
        <span className="node-link-place">
          <WhereView id={id} />
        </span>
      </span>
    </>
  );
  if (isHidden(id))
    return (
      <span className="node-link node-hidden" title={words.hidden.ask}>
        {text}
      </span>
    );
  const to = lineage || parseName(id).kind === "field" ? lineageAddress(id) : pageAddress("node", { node: id });
  return (
    <Go to={to} className="node-link" title={fullName(id)}>
      {text}
    </Go>
  );
};

/** The number of columns whose names the viewer may not see. */
export const HiddenColumns = ({ count }: { count: number }) =>
  count > 0 && (
    <p className="hidden-note" title={words.hidden.ask}>
      <Icon name="lock" size={14} />
      {words.hidden.columns(count)}
    </p>
  );

export const State = ({ state, quiet = false }: { state: string; quiet?: boolean }) => (
  <span className={`state state-${state.toLowerCase()}`} title={words.states[state] ?? state}>
    <span className="state-dot" aria-hidden="true" />
    <span className={quiet ? "hidden" : undefined}>{words.states[state] ?? state}</span>
  </span>
);

const at = (time: string): number => Date.parse(time);

export const When = ({ time }: { time: string | null | undefined }) =>
  time ? (
    <time dateTime={time} title={exact(time)}>
      {words.ago((Date.now() - at(time)) / 1_000)}
    </time>
  ) : (
    <>–</>
  );

/** A time to the second, UTC. */
export const exact = (time: string): string => `${new Date(at(time)).toISOString().slice(0, 19).replace("T", " ")} UTC`;

export const Took = ({ from, to }: { from: string | null; to: string | null }) => (
  <>{from && to ? words.took((at(to) - at(from)) / 1_000) : "–"}</>
);

export const runId = (run: string): string => run.replace(/^run:/, "");

/** Eight digits of a run id: the first ones, or the last ones if the first are a time, which neighbours share. */
export const shortRunId = (run: string): string => {
  const id = runId(run);
  return id[14] === "7" ? id.slice(-8) : id.slice(0, 8);
};

export const RunLink = ({ run }: { run: string }) =>
  isHiddenKey(runId(run)) ? (
    <span className="quiet" title={words.hidden.ask}>
      {words.hidden.run}
    </span>
  ) : (
    <Go to={pageAddress("run", { run: runId(run) })} className="mono run-link" title={runId(run)}>
      {shortRunId(run)}
    </Go>
  );

/** The placeholder while an answer is loaded, or its error. */
export const Awaited = ({ of, lines = 3 }: { of: Answered<unknown>; lines?: number }) => {
  if (of.problem) return <Trouble problem={of.problem} />;
  if (!of.waiting) return null;
  return (
    <div className="skeleton" role="status" aria-label={words.explorer.waiting}>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  );
};

export const Trouble = ({ problem }: { problem: { status: number; message: string } }) => (
  <div className="trouble" role="alert">
    <strong>{problem.status === 404 ? words.problem.unknown : words.problem.title}</strong>
    <p>{problem.status === 0 ? words.problem.offline : problem.message}</p>
  </div>
);

export const Tags = ({ children }: { children: ReactNode }) => <span className="tags">{children}</span>;
