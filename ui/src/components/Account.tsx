// Who is signed in, at the end of the head.

import { useId, useRef } from "react";
import { useSession } from "../session";
import { words } from "../texts";
import { Go, Icon } from "./elements";

/** How people read `key:ada` and `user:ada`. */
export const calledBy = (name: string): { kind: string; name: string } => {
  const colon = name.indexOf(":");
  return colon < 0 ? { kind: "open", name } : { kind: name.slice(0, colon), name: name.slice(colon + 1) };
};

export const Account = () => {
  const { me, isOpen, signOut } = useSession();
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const { kind, name } = calledBy(me.name);
  const title = isOpen ? words.session.open : name;
  const isEverywhere = me.grants.some((one) => one.namespaces === "*" && one.role === me.role);
  const role = me.role ? (words.roles[me.role] ?? me.role) : words.session.noRole;
  return (
    <>
      <button type="button" className="account" popoverTarget={id}>
        <Icon name="person" />
        <span className="account-text">
          <span className="hidden">{words.session.accountOf}</span>
          <span className="account-name">{title}</span>
          <span className="account-role">{role}</span>
        </span>
      </button>
      {/* eslint-disable-next-line jsx-a11y-x/click-events-have-key-events, jsx-a11y-x/no-static-element-interactions -- a choice in the menu closes it; Escape does, too */}
      <div id={id} ref={menu} popover="auto" className="account-menu" onClick={() => menu.current?.hidePopover()}>
        <header>
          <strong>{title}</strong>
          <p>
            {isOpen
              ? words.session.openWhy
              : `${words.session.kinds[kind] ?? kind} · ${role}${me.role && !isEverywhere ? ` ${words.session.somewhere}` : ""}`}
          </p>
        </header>
        {me.may.includes("admin") && !isOpen && (
          <nav aria-label={words.admin.title}>
            {(
              [
                ["keys", "key"],
                ["access", "shield"],
                ["audit", "log"],
              ] as const
            ).map(([tab, icon]) => (
              <Go key={tab} to={`./admin?tab=${tab}`}>
                <Icon name={icon} />
                {words.admin.tabs[tab]}
              </Go>
            ))}
          </nav>
        )}
        {!isOpen && (
          <nav aria-label={words.admin.account}>
            <Go to="./admin?tab=sessions">
              <Icon name="person" />
              {words.admin.tabs["sessions"]}
            </Go>
          </nav>
        )}
        {!isOpen && (
          <button type="button" onClick={() => void signOut()}>
            <Icon name="leave" />
            {words.session.out}
          </button>
        )}
      </div>
    </>
  );
};
