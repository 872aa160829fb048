// The frame of every page: its head, the search, the theme.

import { useEffect, useState, type ReactNode } from "react";
import { go, lineageAddress, type Page } from "../address";
import { words } from "../texts";
import { Account } from "./Account";
import { Age } from "./Age";
import { Go, Icon } from "./elements";
import { Search } from "./Search";

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox], [type=radio])"));

/** Calls back for a key that is pressed outside of inputs and dialogs. */
export const useKeys = (press: (event: KeyboardEvent) => void): void => {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const busy = isTyping(event.target) || document.querySelector("dialog[open]");
      if (!busy && !event.metaKey && !event.ctrlKey && !event.altKey) press(event);
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  });
};

export const Shell = ({ children, page }: { children: (openSearch: () => void) => ReactNode; page: Page }) => {
  const [searching, setSearching] = useState(false);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isRequested =
        (event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !isTyping(event.target));
      if (!isRequested || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      setSearching(true);
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
  return (
    <div className={`shell shell-${page}`}>
      <a className="skip" href="#content">
        {words.skip}
      </a>
      <header className="top">
        <Go to="./" className="brand">
          <img src="./icon.svg" alt="" width="26" height="26" />
          {words.name}
        </Go>
        <button
          type="button"
          className="search-button"
          onClick={() => setSearching(true)}
          aria-label={words.search.open}
        >
          <Icon name="search" />
          <span>{words.search.open}</span>
          <kbd>/</kbd>
        </button>
        <TopLink to="board" icon="board" text={words.boards.open} isCurrent={page === "board"} />
        <TopLink to="gates" icon="shield" text={words.gate.open} isCurrent={page === "gates" || page === "verdict"} />
        <TopLink
          to="incidents"
          icon="bell"
          text={words.incidents.title}
          isCurrent={page === "incidents" || page === "incident"}
        />
        <TopLink to="slos" icon="flag" text={words.slos.title} isCurrent={page === "slos" || page === "slo"} />
        <Age />
        <Theme />
        <Account />
      </header>
      <main id="content" tabIndex={-1}>
        {children(() => setSearching(true))}
      </main>
      {searching && (
        <Search
          onClose={() => setSearching(false)}
          onChoose={(node) => {
            setSearching(false);
            go(lineageAddress(node));
          }}
        />
      )}
    </div>
  );
};

const TopLink = ({ to, icon, text, isCurrent }: { to: string; icon: string; text: string; isCurrent: boolean }) => (
  <Go to={`./${to}`} className="top-link" label={text} isCurrent={isCurrent}>
    <Icon name={icon} />
    <span>{text}</span>
  </Go>
);

const THEME = "whence.theme";
const isDark = (): boolean => {
  const chosen = localStorage.getItem(THEME);
  return chosen ? chosen === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
};

/** Applied before the first paint, so that the page does not flash. */
export const applyTheme = (): void => {
  document.documentElement.dataset["theme"] = isDark() ? "dark" : "light";
};

const Theme = () => {
  const [dark, setDark] = useState(isDark);
  useEffect(() => {
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const follow = () => {
      applyTheme();
      setDark(isDark());
    };
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  const change = () => {
    localStorage.setItem(THEME, dark ? "light" : "dark");
    applyTheme();
    setDark(!dark);
  };
  return (
    <button
      type="button"
      className="icon-button"
      onClick={change}
      aria-label={words.theme.change}
      title={words.theme.change}
    >
      <Icon name={dark ? "sun" : "moon"} />
    </button>
  );
};
