import "@fontsource-variable/inter/wght.css";
import "@xyflow/react/dist/base.css";
import "./styles";
import { lazy, StrictMode, Suspense, useEffect, useMemo } from "react";
import { QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { client } from "./api";
import { explored, useWhere, type Page } from "./address";
import { changesAsked } from "./changes/address";
import { ChangesPage } from "./changes/ChangesPage";
import { Explorer } from "./explorer/Explorer";
import { isNodeId, shortName } from "./names";
import { IncidentPage } from "./incidents/IncidentPage";
import { IncidentsPage } from "./incidents/IncidentsPage";
import { SlosPage } from "./slos/SlosPage";
import { GatesPage } from "./gate/GatesPage";
import { VerdictPage } from "./gate/VerdictPage";
import { Admin } from "./admin/Admin";
import { Home } from "./pages/Home";
import { NoRole } from "./pages/NoRole";
import { NotFound } from "./pages/NotFound";
import { NodePage } from "./pages/NodePage";
import { RunPage } from "./pages/RunPage";
import { Awaited, shortRunId } from "./components/elements";
import { applyTheme, Shell } from "./components/Shell";
import { Gate, useSession } from "./session";
import { words } from "./texts";

// Charts are loaded on demand.
const Boards = lazy(() => import("./dashboards/Dashboards"));
const SloPage = lazy(() => import("./slos/SloPage"));

/** No such page, or an invalid name. */
const isLost = (page: Page, node: string, run: string, slo: string, incident: string): boolean => {
  if (page === "lineage" || page === "node" || page === "changes") return !isNodeId(node);
  if (page === "incident") return !incident;
  return page === "unknown" || (page === "run" && !run) || (page === "slo" && !slo);
};

const App = () => {
  const { me } = useSession();
  const { page, query } = useWhere();
  const key = query.toString();
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the text says what the query has
  const seen = useMemo(() => explored(query), [key]);
  const node = query.get("node") ?? "";
  const run = query.get("run") ?? "";
  const slo = query.get("slo") ?? "";
  const incident = query.get("incident") ?? "";
  const titles: Partial<Record<typeof page, string>> = {
    board: words.boards.title,
    gates: words.gate.title,
    verdict: words.gate.verdict,
    slos: words.slos.title,
    slo: words.slos.name,
    incidents: words.incidents.title,
    incident: words.incidents.one,
    admin: words.admin.title,
  };
  const subject = titles[page] ?? (page === "run" ? shortRunId(run) : node && shortName(node));
  useEffect(() => {
    document.title = subject ? `${subject} · ${words.name}` : words.name;
  }, [subject]);
  return (
    <Shell page={page}>
      {(openSearch) =>
        isLost(page, node, run, slo, incident) ? (
          <NotFound
            title={page === "unknown" ? words.problem.noPage : undefined}
            requested={page === "unknown" ? undefined : node}
          />
        ) : !me.role && !me.sees_all && page !== "admin" ? (
          <NoRole />
        ) : page === "lineage" && node ? (
          <Explorer key={node} explored={seen} />
        ) : page === "node" && node ? (
          <NodePage key={node} node={node} asOf={query.get("as_of") ?? undefined} />
        ) : page === "changes" && node ? (
          <ChangesPage key={key} asked={changesAsked(query)} />
        ) : page === "run" && run ? (
          <RunPage key={run} run={run} versus={query.get("vs") ?? undefined} />
        ) : page === "board" ? (
          <Suspense fallback={<Awaited of={{ waiting: true }} />}>
            <Boards query={query} />
          </Suspense>
        ) : page === "gates" ? (
          <GatesPage key={query.get("repository")} repository={query.get("repository") ?? ""} />
        ) : page === "verdict" ? (
          <VerdictPage key={key} repository={query.get("repository") ?? ""} commit={query.get("commit") ?? ""} />
        ) : page === "slos" ? (
          <SlosPage />
        ) : page === "incidents" ? (
          <IncidentsPage />
        ) : page === "incident" ? (
          <IncidentPage key={incident} incident={incident} />
        ) : page === "slo" ? (
          <Suspense fallback={<Awaited of={{ waiting: true }} />}>
            <SloPage key={key} slo={slo} />
          </Suspense>
        ) : page === "admin" ? (
          <Admin query={query} />
        ) : (
          <Home onSearch={openSearch} />
        )
      }
    </Shell>
  );
};

applyTheme();
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Gate>
        <App />
      </Gate>
    </QueryClientProvider>
  </StrictMode>,
);
