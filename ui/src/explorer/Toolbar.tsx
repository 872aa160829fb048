// The header of the lineage page: the node, the trace or comparison, and the tools.

import { useRef } from "react";
import { explorerAddress, go, LENSES, pageAddress, type Explored, type Lens } from "../address";
import { fullName, shortName } from "../names";
import { Glyph, Go, Icon, NodeGlyph } from "../components/elements";
import { WhereView } from "../components/location";
import { notify } from "../components/Notices";
import { words } from "../texts";
import type { Commands } from "./canvas/Graph";
import { savePng, saveSvg } from "./export/image";

interface ToolbarProps {
  explored: Explored;
  commands: React.RefObject<Commands>;
  canUndo: boolean;
  onPath: () => void;
  onKeys: () => void;
}

export const Toolbar = ({ explored, commands, canUndo, onPath, onKeys }: ToolbarProps) => {
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

/** The less frequent actions, each with its label. */
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
