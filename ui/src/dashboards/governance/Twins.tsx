// Two truths: datasets that are derived alike, which of them is preferred, and who reads another one.

import { apiPath, useAnswer, type One, type TwinsReport } from "../../api";
import { Awaited, Go, Icon, NodeLink } from "../../components/elements";
import { shortName } from "../../names";
import { words } from "../../texts";
import { boardAddress } from "../dashboardAddress";

const texts = words.governance;

/** All lineage is read to find them, so only for who asks. */
export const Twins = ({ isShown }: { isShown: boolean }) => (
  <section className="section" id="twins">
    <h2>{texts.twins}</h2>
    <p className="quiet">{texts.twinsOf}</p>
    {isShown ? (
      <Groups />
    ) : (
      <Go to={boardAddress("governance", { show: "twins" }) + "#twins"} className="button">
        <Icon name="search" size={14} />
        {texts.twinsShow}
      </Go>
    )}
  </section>
);

const Groups = () => {
  const asked = useAnswer<One<TwinsReport>>(apiPath("reports/twins"));
  const found = asked.answer?.data;
  return (
    <>
      <Awaited of={asked} lines={4} />
      {found && !found.groups.length && <p className="quiet">{texts.twinsNone}</p>}
      {found && (
        <ul className="twin-groups">
          {found.groups.map((one) => (
            <Group key={one.datasets.join(" ")} one={one} />
          ))}
        </ul>
      )}
      {found && !found.complete && <p className="note">{texts.unread}</p>}
    </>
  );
};

const Group = ({ one }: { one: TwinsReport["groups"][number] }) => (
  <li>
    <p className="quiet">
      {texts.columns(one.columns)}
      {!one.preferred.length && ` · ${texts.noneIsPreferred}`}
    </p>
    <ul className="affected">
      {one.datasets.map((node) => (
        <li key={node}>
          <NodeLink id={node} />
          <span className="affected-more">
            {one.preferred.includes(node) && <span className="chip chip-good">{texts.preferred}</span>}
          </span>
        </li>
      ))}
      {one.readers.map((each) => (
        <li key={each.reader + each.twin} className="misled">
          <NodeLink id={each.reader} />
          <span className="affected-more">
            <span className="chip chip-warn">{texts.reads(shortName(each.twin))}</span>
          </span>
        </li>
      ))}
    </ul>
  </li>
);
