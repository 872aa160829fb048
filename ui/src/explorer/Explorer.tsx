// The lineage page: an address in, a picture and its panels out.

import { ReactFlowProvider } from "@xyflow/react";
import { useMemo, useRef, useState } from "react";
import { explorerAddress, go, LENSES, pageAddress, type Explored, type Lens, type Side } from "../address";
import { Tagged } from "../facts/tagged";
import type { Point } from "../graph/place";
import { boxOf, fullName, shortName } from "../names";
import { Glyph, Go, Icon, NodeGlyph, Trouble } from "../parts/bits";
import { WhereView } from "../parts/where";
import { NotFound } from "../pages/NotFound";
import { notify } from "../parts/Notices";
import { Search } from "../parts/Search";
import { useKeys } from "../parts/Shell";
import { words } from "../words";
import { ActingContext, hopToggled, toggled, type Acting } from "./acting";
import { MOST_BOXES } from "./drawn";
import { Graph, type Commands } from "./Graph";
import { ListView } from "./ListView";
import { AboutPanel } from "./AboutPanel";
import { EvidencePanel } from "./EvidencePanel";
import { ImpactPanel } from "./ImpactPanel";
import { TimePanel } from "./TimePanel";
import { Picker } from "./Picker";
import { useKnown, useSeen, type Seen } from "./told";
import { useTraits } from "./traits";
import { MarkView, useLens, type Lensed } from "./lens";
import { savePng, saveSvg } from "./image";
import { pressed } from "./keyboard";

export const Explorer = ({ explored }: { explored: Explored }) => (
  <ReactFlowProvider>
    <Exploring explored={explored} />
  </ReactFlowProvider>
);

const Exploring = ({ explored }: { explored: Explored }) => {
  const plain = useSeen(explored);
  const traits = useTraits(
    plain.picture.boxes.slice(0, MOST_BOXES).map((box) => box.id),
    explored.asOf,
  );
  const seen = useKnown(plain, traits);
  const lensed = useLens(explored, seen.picture, traits);
  const [picking, setPicking] = useState<{ node: string; side: Side }>();
  const [isPathing, setPathing] = useState(false);
  const [hasKeys, setKeys] = useState(false);
  const commands = useRef<Commands>({ tidy: () => undefined, fit: () => undefined });
  const [canUndo, setUndo] = useState(false);
  const order = useRef(new Map<string, Point>());
  const acting = useMemo((): Acting => {
    const change = (patch: Partial<Explored>, how?: "push" | "replace") =>
      go(explorerAddress({ ...explored, ...patch }), how);
    return {
      change,
      toggleHop: (node, side, open) => change(hopToggled(explored, node, side, open)),
      toggleColumns: (node) => change({ columns: toggled(explored.columns, node) }),
      focus: (field) =>
        change({ focus: field, edge: undefined, panel: explored.panel === "edge" ? undefined : explored.panel }),
      select: (node) => change({ selected: node, panel: "about", edge: undefined }),
      pick: (node, side) => setPicking({ node, side }),
    };
  }, [explored]);
  useKeys((event) =>
    pressed(event, {
      explored,
      acting,
      picture: seen.picture,
      order: order.current,
      commands: commands.current,
      openPath: () => setPathing(true),
      hasKeys,
      toggleKeys: () => setKeys(!hasKeys),
    }),
  );
  const line =
    explored.edge &&
    seen.picture.lines.find((one) => one.from === explored.edge?.source && one.to === explored.edge.target);
  return (
    <ActingContext value={acting}>
      <div className={`explorer ${explored.panel ? "with-panel" : ""}`}>
        <Head
          explored={explored}
          seen={seen}
          commands={commands}
          canUndo={canUndo}
          onPath={() => setPathing(true)}
          onKeys={() => setKeys(!hasKeys)}
        />
        <div className="stage" aria-busy={seen.waiting}>
          {seen.problem && (explored.versus || !seen.picture.lines.length) ? (
            seen.problem.status === 404 ? (
              <NotFound asked={explored.node} candidates={seen.problem.candidates} />
            ) : (
              <Trouble problem={seen.problem} />
            )
          ) : explored.view === "list" ? (
            <ListView explored={explored} picture={seen.picture} lensed={lensed} />
          ) : (
            <Tagged nodes={explored.asOf ? [] : seen.picture.boxes.slice(0, MOST_BOXES).map((box) => box.id)}>
              <Graph
                explored={explored}
                seen={seen}
                lensed={lensed}
                commands={(some) => {
                  commands.current = some;
                  setUndo(some.undo !== undefined);
                }}
                onOrder={(some) => {
                  order.current = some;
                }}
              />
            </Tagged>
          )}
          {seen.noPath && <div className="banner">{words.explorer.noPath}</div>}
          {explored.view === "graph" && !seen.problem && <Legend seen={seen} lensed={lensed} />}
          {seen.waiting && (
            <div className="progress" role="status">
              <span className="hidden">{words.explorer.waiting}</span>
            </div>
          )}
          {hasKeys && <Keys onClose={() => setKeys(false)} />}
        </div>
        {explored.panel === "edge" && <EvidencePanel line={line} />}
        {explored.panel === "impact" && (
          <ImpactPanel node={explored.focus ?? explored.selected ?? explored.node} explored={explored} />
        )}
        {explored.panel === "about" && (
          <AboutPanel key={explored.selected} node={explored.selected ?? explored.node} lines={seen.picture.lines} />
        )}
        {explored.panel === "time" && <TimePanel explored={explored} />}
        <Standing seen={seen} explored={explored} />
      </div>
      {picking && (
        <Picker
          {...picking}
          asOf={explored.asOf}
          picked={explored.picked}
          onClose={() => setPicking(undefined)}
          onPick={(picked) => {
            setPicking(undefined);
            acting.change({ picked });
          }}
        />
      )}
      {isPathing && (
        <Search
          hint={words.search.pathHint}
          onClose={() => setPathing(false)}
          onChoose={(node) => {
            setPathing(false);
            acting.change({ pathTo: node, view: "graph" });
          }}
        />
      )}
    </ActingContext>
  );
};

interface HeadProps {
  explored: Explored;
  seen: Seen;
  commands: React.RefObject<Commands>;
  canUndo: boolean;
  onPath: () => void;
  onKeys: () => void;
}

const Head = ({ explored, commands, canUndo, onPath, onKeys }: HeadProps) => {
  const change = (patch: Partial<Explored>) => go(explorerAddress({ ...explored, ...patch }));
  const panel = (name: "impact" | "time") =>
    change({ panel: explored.panel === name ? undefined : name, edge: undefined });
  const tool = (icon: string, label: string, act: () => void, isOn?: boolean) => (
    <button type="button" className="tool" onClick={act} aria-pressed={isOn} title={label}>
      <Icon name={icon} />
      <span>{label}</span>
    </button>
  );
  return (
    <div className="head">
      <div className="head-name">
        <NodeGlyph id={explored.node} />
        <div>
          <h1>
            <Go to={pageAddress("node", { node: explored.node })}>{shortName(explored.node)}</Go>
          </h1>
          <p title={fullName(explored.node)}>
            <WhereView id={explored.node} />
          </p>
        </div>
      </div>
      <div className="head-chips">
        {explored.focus && (
          <span className="pill pill-focus">
            <Glyph type="field" />
            {shortName(explored.focus)}
            <label>
              <input
                type="checkbox"
                checked={explored.influence}
                onChange={() => change({ influence: !explored.influence })}
              />
              {words.explorer.influence}
            </label>
            <button
              type="button"
              aria-label={words.explorer.unfocus}
              title={words.explorer.unfocus}
              onClick={() => change({ focus: undefined, influence: false })}
            >
              <Icon name="close" size={14} />
            </button>
          </span>
        )}
        {explored.pathTo && (
          <span className="pill">
            <Icon name="path" />
            {shortName(explored.focus ?? explored.node)} → {shortName(explored.pathTo)}
            <button
              type="button"
              aria-label={words.explorer.leavePath}
              title={words.explorer.leavePath}
              onClick={() => change({ pathTo: undefined })}
            >
              <Icon name="close" size={14} />
            </button>
          </span>
        )}
        {explored.versus && (
          <span className="pill pill-time">
            {words.time.comparing(nice(explored.versus), explored.asOf ? nice(explored.asOf) : words.explorer.now)}
            <button
              type="button"
              aria-label={words.time.stop}
              title={words.time.stop}
              onClick={() => change({ versus: undefined })}
            >
              <Icon name="close" size={14} />
            </button>
          </span>
        )}
        {explored.asOf && !explored.versus && (
          <span className="pill pill-time">
            {words.explorer.asOf} {nice(explored.asOf)}
            <button
              type="button"
              aria-label={words.explorer.leaveTime}
              title={words.explorer.leaveTime}
              onClick={() => change({ asOf: undefined })}
            >
              <Icon name="close" size={14} />
            </button>
          </span>
        )}
      </div>
      <div className="tools" role="toolbar" aria-label={words.explorer.map}>
        <span className="switch" role="group">
          {tool("graph", words.explorer.graph, () => change({ view: "graph" }), explored.view === "graph")}
          {tool("list", words.explorer.list, () => change({ view: "list" }), explored.view === "list")}
        </span>
        {tool("impact", words.explorer.impact, () => panel("impact"), explored.panel === "impact")}
        {tool("path", words.explorer.path, onPath)}
        {tool("run", words.explorer.time, () => panel("time"), explored.panel === "time")}
        <LensChoice value={explored.lens} onChoose={(lens) => change({ lens })} />
        <More
          isGraph={explored.view === "graph"}
          name={shortName(explored.node)}
          commands={commands}
          canUndo={canUndo}
          onKeys={onKeys}
        />
      </div>
    </div>
  );
};

const LensChoice = ({ value, onChoose }: { value?: Lens; onChoose: (lens: Lens | undefined) => void }) => (
  <label className={value ? "tool lens-tool on" : "tool lens-tool"} title={value && words.lenses.says[value]}>
    <Icon name="lens" />
    <select
      value={value ?? ""}
      aria-label={words.lenses.title}
      onChange={(event) => onChoose(LENSES.find((one) => one === event.target.value))}
    >
      <option value="">{words.lenses.none}</option>
      {LENSES.map((one) => (
        <option key={one} value={one}>
          {words.lenses.names[one]}
        </option>
      ))}
    </select>
  </label>
);

interface MoreProps {
  isGraph: boolean;
  name: string;
  commands: React.RefObject<Commands>;
  canUndo: boolean;
  onKeys: () => void;
}

/** What is wanted less often, each with its word. */
const More = ({ isGraph, name, commands, canUndo, onKeys }: MoreProps) => {
  const menu = useRef<HTMLDetailsElement>(null);
  const save = (how: (svg: string, name: string) => void | Promise<void>) =>
    void commands.current.image?.().then((svg) => how(svg, name));
  const copy = () =>
    void navigator.clipboard?.writeText(window.location.href).then(() => notify({ text: words.explorer.copied }));
  const item = (icon: string, label: string, act: () => void, key?: string) => (
    <button
      type="button"
      className="tool"
      onClick={() => {
        menu.current?.removeAttribute("open");
        act();
      }}
    >
      <Icon name={icon} />
      <span>{label}</span>
      {key && <kbd>{key}</kbd>}
    </button>
  );
  return (
    // eslint-disable-next-line jsx-a11y-x/no-noninteractive-element-interactions -- Escape and a lost focus close the menu; its items are buttons
    <details
      className="menu"
      ref={menu}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) event.currentTarget.removeAttribute("open");
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !event.currentTarget.open) return;
        event.stopPropagation();
        event.currentTarget.removeAttribute("open");
        event.currentTarget.querySelector("summary")?.focus();
      }}
    >
      <summary className="tool" aria-label={words.explorer.more} title={words.explorer.more}>
        <Icon name="more" />
        <span>{words.explorer.more}</span>
      </summary>
      <div className="menu-items" role="group" aria-label={words.explorer.more}>
        {isGraph && (
          <>
            {item(
              "tidy",
              canUndo ? words.explorer.undo : words.explorer.tidy,
              () => (canUndo ? commands.current.undo?.() : commands.current.tidy()),
              "L",
            )}
            {item("fit", words.explorer.fit, () => commands.current.fit(), "F")}
            {item("image", words.image.svg, () => save(saveSvg))}
            {item("image", words.image.png, () => save(savePng))}
          </>
        )}
        {item("link", words.explorer.copy, copy)}
        {item("keys", words.explorer.keys, onKeys, "?")}
      </div>
    </details>
  );
};

const nice = (time: string): string => time.replace("T", " ").slice(0, 16);

const FLOWS = ["direct", "indirect", "inferred"] as const;
const FATES = ["added", "connected", "changed", "disconnected", "removed"] as const;

const Legend = ({ seen, lensed }: { seen: Seen; lensed: Lensed }) => (
  <div className="legend">
    {lensed.legend.length > 0 && (
      <ul aria-label={words.lenses.title}>
        {lensed.legend.map(({ mark, count }) => (
          <li key={mark.icon + mark.text}>
            <MarkView mark={mark} className="legend-mark" />
            <b>{count}</b>
          </li>
        ))}
      </ul>
    )}
    <ul aria-label={words.explorer.legend}>
      {FLOWS.filter((flow) => seen.picture.lines.some((one) => one.flow === flow)).map((flow) => (
        <li key={flow}>
          <svg width="30" height="6" aria-hidden="true">
            <path d="M0 3h30" className={`line flow-${flow}`} />
          </svg>
          {words.flows[flow]}
        </li>
      ))}
      {FATES.filter((fate) => [...seen.picture.boxes, ...seen.picture.lines].some((one) => one.fate === fate)).map(
        (fate) => (
          <li key={fate}>
            <span className={`swatch fate-${fate}`} />
            {words.fates[fate]}
          </li>
        ),
      )}
    </ul>
  </div>
);

/** How much of what there is the picture shows. */
const shownOf = ({ picture, trace, extents, noPath }: Seen, explored: Explored): string[] => {
  if (explored.pathTo) return noPath || !extents.length ? [] : [words.explorer.wholePath(extents[0]!.complete)];
  const traced = trace?.complete && explored.focus ? [words.explorer.wholeTrace(shortName(explored.focus))] : [];
  const folded = picture.stubs.map(({ of, side, count, atLeast }) => {
    const ends = picture.lines.flatMap(({ source, target }) => (side === "up" ? [target, source] : [source, target]));
    const drawn = new Set(ends.filter((_, at) => at % 2 === 1 && ends[at - 1] === of));
    return words.explorer.showing(drawn.size, count, atLeast, side, shortName(of));
  });
  const more = picture.boxes.filter((box) => Object.values(box.beyond).includes("more")).length;
  if (more) return [...traced, ...folded, words.explorer.moreBeyond(more)];
  if (folded.length || traced.length) return [...traced, ...folded];
  if (!extents.length) return [];
  return [explored.shut.length ? words.explorer.partly : words.explorer.complete(shortName(explored.node))];
};

/** Why the picture is not all there is. */
const reasonsOf = ({ extents, picture, gaps }: Seen): string[] => {
  const stops = new Set(extents.flatMap((one) => one.stopped_by ?? []));
  stops.delete("depth");
  // Of a hop with a count the count says it.
  if (picture.stubs.length) stops.delete("nodes");
  if (gaps.length) stops.delete("columns");
  const said = [...stops].map((one) => words.explorer.stoppedBy[one] ?? one);
  const places = new Set(gaps.map((gap) => boxOf(gap.at)));
  return places.size ? [...said, words.explorer.gaps(places.size)] : said;
};

/** How much of the truth this is. */
const Standing = ({ seen, explored }: { seen: Seen; explored: Explored }) => {
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

const Keys = ({ onClose }: { onClose: () => void }) => (
  <div className="keys" role="dialog" aria-label={words.explorer.keys}>
    <header className="panel-head">
      <h2>{words.explorer.keys}</h2>
      <button type="button" className="icon-button" aria-label={words.explorer.close} onClick={onClose}>
        <Icon name="close" />
      </button>
    </header>
    <dl>
      {words.keys.map(([key, what]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  </div>
);
