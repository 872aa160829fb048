// Three dashboards: for who is on call, who leads, who debugs.

import "uplot/dist/uPlot.min.css";
import "../styles/boards.css";
import { Go } from "../parts/bits";
import { NotFound } from "../pages/NotFound";
import { words } from "../words";
import { boardAddress, BOARDS } from "./where";
import { Debug } from "./Debug";
import { Executive } from "./Executive";
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
        <nav className="switch board-nav" aria-label={words.boards.title}>
          {BOARDS.map((one) => (
            <Go
              key={one}
              to={boardAddress(one)}
              className={one === of ? "tool here" : "tool"}
              label={one === of ? undefined : words.boards[one]}
            >
              {words.boards[one]}
            </Go>
          ))}
        </nav>
      </header>
      {of === "oncall" ? <OnCall /> : of === "executive" ? <Executive query={query} /> : <Debug query={query} />}
    </div>
  );
};

export default Boards;
