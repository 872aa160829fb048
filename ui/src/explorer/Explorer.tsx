// The lineage page: an address in, a picture and its panels out.

import { ReactFlowProvider } from "@xyflow/react";
import { useMemo, useRef, useState } from "react";
import { explorerAddress, go, type Explored, type Panel, type Side } from "../address";
import { Tagged } from "../facts/badges";
import { useTraits } from "../facts/traits";
import type { Point } from "../graph/placement";
import { NotFound } from "../pages/NotFound";
import { Trouble } from "../components/elements";
import { Search } from "../components/Search";
import { useKeys } from "../components/Shell";
import { isCategory } from "../sensitivity/grades";
import { words } from "../texts";
import { ActionsContext, hopToggled, toggled, type Actions } from "./actions";
import { useKnown, useSeen } from "./answers";
import { MOST_BOXES } from "./canvas/elements";
import { Graph, type Commands } from "./canvas/Graph";
import { CompletenessBar } from "./CompletenessBar";
import { handleKey } from "./keyboard";
import { KeyList } from "./KeyList";
import { Legend } from "./Legend";
import { useLens } from "./lens";
import { ListView } from "./ListView";
import { AboutPanel } from "./panels/AboutPanel";
import { EvidencePanel } from "./panels/EvidencePanel";
import { ImpactPanel } from "./panels/ImpactPanel";
import { LabelPanel } from "./panels/LabelPanel";
import { TimePanel } from "./panels/TimePanel";
import { Picker } from "./Picker";
import { Toolbar } from "./Toolbar";

export const Explorer = ({ explored }: { explored: Explored }) => (
  <ReactFlowProvider>
    <Exploring explored={explored} />
  </ReactFlowProvider>
);

/** The panel beside a column that is traced: under the lens of labels it says why the column has one. */
const panelOf = (explored: Explored, field: string | undefined): Panel | undefined => {
  if (isCategory(explored.lens)) return field ? "label" : undefined;
  return explored.panel === "edge" ? undefined : explored.panel;
};

const Exploring = ({ explored }: { explored: Explored }) => {
  const plain = useSeen(explored);
  const traits = useTraits(
    plain.picture.boxes.slice(0, MOST_BOXES).map((box) => box.id),
    explored.asOf,
    isCategory(explored.lens) ? explored.lens : undefined,
  );
  const seen = useKnown(plain, traits);
  const lensed = useLens(explored, seen.picture, traits);
  const [picking, setPicking] = useState<{ node: string; side: Side }>();
  const [isPathing, setPathing] = useState(false);
  const [hasKeys, setKeys] = useState(false);
  const commands = useRef<Commands>({ tidy: () => undefined, fit: () => undefined });
  const [canUndo, setUndo] = useState(false);
  const order = useRef(new Map<string, Point>());
  const actions = useMemo((): Actions => {
    const change = (patch: Partial<Explored>, how?: "push" | "replace") =>
      go(explorerAddress({ ...explored, ...patch }), how);
    return {
      change,
      toggleHop: (node, side, open) => change(hopToggled(explored, node, side, open)),
      toggleColumns: (node) => change({ columns: toggled(explored.columns, node) }),
      focus: (field) => change({ focus: field, edge: undefined, panel: panelOf(explored, field) }),
      select: (node) => change({ selected: node, panel: "about", edge: undefined }),
      pick: (node, side) => setPicking({ node, side }),
    };
  }, [explored]);
  useKeys((event) =>
    handleKey(event, {
      explored,
      actions,
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
    <ActionsContext value={actions}>
      <div className={`explorer ${explored.panel ? "with-panel" : ""}`}>
        <Toolbar
          explored={explored}
          commands={commands}
          canUndo={canUndo}
          onPath={() => setPathing(true)}
          onKeys={() => setKeys(!hasKeys)}
        />
        <div className="stage" aria-busy={seen.waiting}>
          {seen.problem && (explored.versus || !seen.picture.lines.length) ? (
            seen.problem.status === 404 ? (
              <NotFound requested={explored.node} candidates={seen.problem.candidates} />
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
          {hasKeys && <KeyList onClose={() => setKeys(false)} />}
        </div>
        {explored.panel === "edge" && <EvidencePanel line={line} />}
        {explored.panel === "impact" && (
          <ImpactPanel node={explored.focus ?? explored.selected ?? explored.node} explored={explored} />
        )}
        {explored.panel === "about" && (
          <AboutPanel key={explored.selected} node={explored.selected ?? explored.node} lines={seen.picture.lines} />
        )}
        {explored.panel === "label" && isCategory(explored.lens) && (
          <LabelPanel node={explored.focus ?? explored.node} category={explored.lens} asOf={explored.asOf} />
        )}
        {explored.panel === "time" && <TimePanel explored={explored} />}
        <CompletenessBar seen={seen} explored={explored} />
      </div>
      {picking && (
        <Picker
          {...picking}
          asOf={explored.asOf}
          picked={explored.picked}
          onClose={() => setPicking(undefined)}
          onPick={(picked) => {
            setPicking(undefined);
            actions.change({ picked });
          }}
        />
      )}
      {isPathing && (
        <Search
          hint={words.search.pathHint}
          onClose={() => setPathing(false)}
          onChoose={(node) => {
            setPathing(false);
            actions.change({ pathTo: node, view: "graph" });
          }}
        />
      )}
    </ActionsContext>
  );
};
