// The dashboards: on call, executive, governance, debug.

import "../styles/dashboards/boards.css";
import "../styles/dashboards/debug.css";
import { Go } from "../components/elements";
import { Tabs } from "../components/Tabs";
import { NotFound } from "../pages/NotFound";
import { words } from "../texts";
import { boardAddress, BOARDS } from "./dashboardAddress";
import { Debug } from "./Debug";
import { Executive } from "./Executive";
import { Governance } from "./governance/Governance";
import { OnCall } from "./OnCall";

const Boards = ({ query }: { query: URLSearchParams }) => {
  const wanted = query.get("of") ?? "oncall";
  const of = BOARDS.find((one) => one === wanted);
  if (!of) return <NotFound title={words.problem.noPage} />;
  return (
    <div className="page board">
      <header className="page-head board-head">
        <div>
          <h1>{words.boards[of]}</h1>
          <p>{words.boards.about[of]}</p>
        </div>
        <Tabs className="switch board-nav" label={words.boards.title} current={of}>
          {BOARDS.map((one) => (
            <Go key={one} to={boardAddress(one)} className={one === of ? "tool here" : "tool"} isCurrent={one === of}>
              {words.boards[one]}
            </Go>
          ))}
        </Tabs>
      </header>
      {of === "oncall" && <OnCall />}
      {of === "executive" && <Executive query={query} />}
      {of === "governance" && <Governance query={query} />}
      {of === "debug" && <Debug query={query} />}
    </div>
  );
};

export default Boards;
