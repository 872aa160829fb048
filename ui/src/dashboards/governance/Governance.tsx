// The governance dashboard: sensitive columns, policies, certifications, twins, and who has access.

import "../../styles/dashboards/governance.css";
import {
  apiPath,
  useAnswer,
  usePages,
  type Governance as Figures,
  type GroupedLabels,
  type One,
  type PageOf,
} from "../../api";
import { Awaited, Icon, When } from "../../components/elements";
import { words } from "../../texts";
import { boardAddress } from "../dashboardAddress";
import { Tile } from "../Tile";
import { AccessReview } from "./AccessReview";
import { EvidenceLink } from "./EvidenceLink";
import { Labels, labelsQuery } from "./Labels";
import { Certifications, Violations } from "./Rules";
import { Twins } from "./Twins";

const texts = words.governance;

export const Governance = ({ query }: { query: URLSearchParams }) => {
  const asked = useAnswer<One<Figures>>(apiPath("governance"));
  const found = asked.answer?.data;
  return (
    <>
      <Awaited of={{ waiting: false, problem: asked.problem }} />
      <Tiles found={found} />
      {found && found.hidden > 0 && (
        <p className="hidden-note board-note" title={words.hidden.ask}>
          <Icon name="lock" size={14} />
          {texts.hidden(found.hidden)}
        </p>
      )}
      <Labels query={query} />
      <div className="board-columns">
        <Violations query={query} found={found} />
        <aside>
          <Certifications query={query} found={found} />
        </aside>
      </div>
      <div className="board-columns">
        <Twins isShown={query.get("show") === "twins"} />
        <aside>
          <EvidenceLink />
        </aside>
      </div>
      <AccessReview />
    </>
  );
};

const Tiles = ({ found }: { found: Figures | undefined }) => {
  const personal = usePages<PageOf<GroupedLabels>>(...labelsQuery("pii")).pages[0]?.data.columns;
  const shown = (count: number | undefined) => count?.toLocaleString("en") ?? words.boards.none;
  const tile = (key: string) => {
    const [name, formula] = texts.tiles[key]!;
    return { name, formula };
  };
  return (
    <div className="metrics metrics-5">
      <Tile
        {...tile("labels")}
        value={shown(personal && personal.full + personal.pseudonymous + personal.partial)}
        note={personal && texts.fullOf(personal.full)}
        to={`${boardAddress("governance")}#labels`}
      />
      <Tile
        {...tile("violated")}
        value={shown(found?.policies.violated)}
        note={
          found?.policies.since ? (
            <>
              {texts.oldest} <When time={found.policies.since} />
            </>
          ) : (
            found && texts.blocking(found.policies.blocking, found.policies.not_evaluated)
          )
        }
        isBad={(found?.policies.violated ?? 0) > 0}
        to={`${boardAddress("governance")}#violations`}
      />
      <Tile
        {...tile("lapsed")}
        value={shown(found?.certification.lapsed)}
        note={found && texts.certified(found.certification.certified)}
        isBad={(found?.certification.lapsed ?? 0) > 0}
        to={`${boardAddress("governance", { status: "lapsed" })}#certifications`}
      />
      <Tile
        {...tile("expiring")}
        value={shown(found?.expiring.length)}
        note={found && (found.expiring[0] ? texts.next(found.expiring[0].days) : texts.nobodyExpires)}
        to={`${boardAddress("governance", { status: "expiring" })}#certifications`}
      />
      <Tile
        {...tile("twins")}
        value={shown(found?.twins?.groups)}
        note={found && (found.twins ? texts.readers(found.twins.readers) : texts.counting)}
        to={`${boardAddress("governance", { show: "twins" })}#twins`}
      />
    </div>
  );
};
