// Keys, roles and the audit log, for administrators.

import { Go, Icon } from "../components/elements";
import { Tabs } from "../components/Tabs";
import { useSession } from "../session";
import { words } from "../texts";
import { Access } from "./Access";
import { Audit } from "./Audit";
import { Keys } from "./Keys";
import { Sessions } from "./Sessions";

const TABS = [
  ["sessions", "person", Sessions],
  ["keys", "key", Keys],
  ["access", "shield", Access],
  ["audit", "log", Audit],
] as const;

export const Admin = ({ query }: { query: URLSearchParams }) => {
  const { me, isOpen } = useSession();
  const isEverywhere =
    me.may.includes("admin") && me.grants.some((one) => one.role === "admin" && one.namespaces === "*");
  const tabs = isEverywhere
    ? TABS
    : TABS.filter(([tab]) => tab === "sessions" || (tab === "access" && me.may.includes("admin")));
  const title = tabs.length > 1 ? [words.admin.title, words.admin.sub] : [words.admin.account, words.admin.accountSub];
  const wanted = query.get("tab");
  const [current, , View] = tabs.find(([tab]) => (wanted ? tab === wanted : tab !== "sessions")) ?? [];
  return (
    <div className="page admin">
      <header className="page-head">
        <span className="glyph">
          <Icon name="shield" />
        </span>
        <div>
          <h1>{title[0]}</h1>
          <p>{title[1]}</p>
        </div>
      </header>
      {isOpen ? (
        <p className="section quiet">{words.admin.open}</p>
      ) : (
        <>
          <Tabs className="tabs" label={words.admin.title} current={current}>
            {tabs.map(([tab, icon]) => (
              <Go
                key={tab}
                to={`./admin?tab=${tab}`}
                className={tab === current ? "tab current" : "tab"}
                isCurrent={tab === current}
              >
                <Icon name={icon} />
                {words.admin.tabs[tab]}
              </Go>
            ))}
          </Tabs>
          {View ? <View query={query} /> : <p className="section quiet">{words.admin.noRight}</p>}
        </>
      )}
    </div>
  );
};
