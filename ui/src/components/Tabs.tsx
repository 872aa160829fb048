// Pages that stand side by side, one of them open. Where they do not all fit, the open one is in sight.

import { useEffect, useRef, type ReactNode } from "react";

interface Props {
  label: string;
  className: string;
  /** Which one is open; it has `aria-current`. */
  current: string | undefined;
  children: ReactNode;
}

export const Tabs = ({ label, className, current, children }: Props) => {
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    const tab = list.current?.querySelector<HTMLElement>("[aria-current]");
    if (!list.current || !tab) return;
    // Only the list scrolls, not the page.
    const [outer, inner] = [list.current.getBoundingClientRect(), tab.getBoundingClientRect()];
    list.current.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
  }, [current]);
  return (
    <nav className={className} aria-label={label} ref={list}>
      {children}
    </nav>
  );
};
