// How many columns of each domain or namespace are sensitive, by grade, and the list behind each number.

import { useEffect, useRef } from "react";
import { usePages, type Found, type GroupedLabels, type PageOf } from "../../api";
import { Awaited, Go, Icon, NodeLink, When } from "../../components/elements";
import { MarkView } from "../../explorer/lens";
import { CATEGORIES, GRADES, gradeMark, isCategory, type Category } from "../../sensitivity/grades";
import { words } from "../../texts";
import { boardAddress } from "../dashboardAddress";
import { Paged } from "../Paged";

const texts = words.governance;

type Grouping = GroupedLabels["by"];
const GROUPINGS: readonly Grouping[] = ["domain", "namespace"];

export const labelsQuery = (category: Category, by?: Grouping) => ["labels", { category, by, limit: 50 }] as const;

interface Wanted {
  label: Category;
  by?: Grouping;
  grade?: string;
  namespace?: string;
  domain?: string;
}

export const wantedLabels = (query: URLSearchParams): Wanted => {
  const label = query.get("label") ?? undefined;
  return {
    label: isCategory(label) ? label : "pii",
    by: GROUPINGS.find((one) => one === query.get("by")),
    grade: GRADES.find((one) => one === query.get("grade")),
    namespace: query.get("namespace") ?? undefined,
    domain: query.get("domain") ?? undefined,
  };
};

const to = ({ label, by, grade, namespace, domain }: Wanted): string =>
  boardAddress("governance", { label, by, grade, namespace, domain }) + "#labels";

export const Labels = ({ query }: { query: URLSearchParams }) => {
  const wanted = wantedLabels(query);
  const listing = usePages<PageOf<GroupedLabels>>(...labelsQuery(wanted.label, wanted.by));
  const first = listing.pages[0]?.data;
  const rows = listing.pages.flatMap((page) => page.data.groups);
  const category = words.labels.categories[wanted.label] ?? wanted.label;
  return (
    <section className="section" id="labels">
      <h2>{texts.labels}</h2>
      <p className="quiet">{texts.labelsOf}</p>
      <p className="chips" role="group" aria-label={texts.category}>
        {CATEGORIES.map((one) => (
          <Go
            key={one}
            to={to({ label: one, by: wanted.by })}
            className={one === wanted.label ? "chip chip-button chip-here" : "chip chip-button"}
            isCurrent={one === wanted.label}
          >
            {words.labels.categories[one] ?? one}
          </Go>
        ))}
      </p>
      {first && (
        <p className="chips" role="group" aria-label={texts.grouping}>
          {GROUPINGS.map((one) => (
            <Go
              key={one}
              to={to({ label: wanted.label, by: one })}
              className={one === first.by ? "chip chip-button chip-here" : "chip chip-button"}
              isCurrent={one === first.by}
            >
              {texts.groupings[one]}
            </Go>
          ))}
        </p>
      )}
      <Paged of={listing} isEmpty={!rows.length} none={<NoLabels category={category} />} lines={5}>
        {first && (
          <div className="scroll" tabIndex={0} role="region" aria-label={texts.labels}>
            <table className="table plain label-counts">
              <thead>
                <tr>
                  <th scope="col">{texts.groups[first.by]}</th>
                  {GRADES.map((grade) => (
                    <th key={grade} scope="col" className="number">
                      <MarkView mark={gradeMark(grade, false)} className="list-mark" />
                    </th>
                  ))}
                  <th scope="col" className="number">
                    {texts.datasets}
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.length > 1 && <Counts of={first.columns} label={wanted.label} by={first.by} />}
                {rows.map((one) => (
                  <Counts
                    key={one.name}
                    of={one.columns}
                    label={wanted.label}
                    by={first.by}
                    name={one.name}
                    datasets={one.datasets}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Paged>
      {first && <Notes of={first} />}
      {wanted.grade && <Listed {...wanted} grade={wanted.grade} />}
    </section>
  );
};

const NoLabels = ({ category }: { category: string }) => (
  <>
    <p className="quiet">{texts.noLabels(category)}</p>
    <p className="quiet">
      {texts.tagHow} <code>{texts.tagCommand}</code>
    </p>
  </>
);

interface CountsProps {
  of: GroupedLabels["columns"];
  label: Category;
  by: Grouping;
  /** All groups, if it is left out; empty: the datasets without a domain, which no search finds. */
  name?: string;
  datasets?: number;
}

const Counts = ({ of, label, by, name, datasets }: CountsProps) => {
  const shown = name === undefined ? texts.all : name || texts.noDomain;
  return (
    <tr className={name === undefined ? "total" : undefined}>
      <th scope="row" className={name === "" ? "quiet" : "breaks"}>
        {shown}
      </th>
      {GRADES.map((grade) => (
        <td key={grade} className="number">
          {of[grade] && name !== "" ? (
            <Go
              to={to({ label, by, grade, [by]: name })}
              className="link-button"
              label={texts.cell(of[grade], words.labels.grades[grade] ?? grade, shown)}
            >
              {of[grade].toLocaleString("en")}
            </Go>
          ) : (
            <span className="quiet">{of[grade].toLocaleString("en")}</span>
          )}
        </td>
      ))}
      <td className="number quiet">{datasets?.toLocaleString("en")}</td>
    </tr>
  );
};

const Notes = ({ of }: { of: GroupedLabels }) => (
  <>
    {of.unknown > 0 && <p className="note">{texts.unknown(of.unknown)}</p>}
    {!of.complete && <p className="note">{texts.unread}</p>}
    {of.hidden > 0 && (
      <p className="hidden-note" title={words.hidden.ask}>
        <Icon name="lock" size={14} />
        {texts.hiddenNamespaces(of.hidden)}
      </p>
    )}
    <p className="quiet board-note">
      {texts.counted} <When time={of.at} />
    </p>
  </>
);

const Listed = ({ label, by, grade, namespace, domain }: Wanted & { grade: string }) => {
  const list = useRef<HTMLDivElement>(null);
  const q = `label:${label}=${grade}`;
  const listing = usePages<{ data: Found; page: { next: string | null } | null }>("search", {
    q,
    kind: "field",
    namespace,
    tag: domain && `domain=${domain}`,
    names: 10_000,
    limit: 50,
  });
  // It may be far below what led to it. Browsers answer with a promise, which is no clean-up of an effect.
  useEffect(() => {
    list.current?.scrollIntoView({ block: "nearest" });
  }, [q, namespace, domain]);
  const rows = listing.pages.flatMap((page) => page.data.nodes);
  return (
    <div className="lacking" ref={list}>
      <div className="section-head">
        <h3 className="breaks">{texts.listOf(words.labels.grades[grade] ?? grade, namespace ?? domain)}</h3>
        <Go to={boardAddress("governance", { label, by })} className="link-button">
          {texts.close}
        </Go>
      </div>
      <Awaited of={listing.state} lines={4} />
      <ul className="affected">
        {rows.map((one) => (
          <li key={one.node}>
            <NodeLink id={one.node} />
            <span className="affected-more">
              {one.standings.map((standing) => (
                <span key={standing} className="chip chip-good">
                  {standing}
                </span>
              ))}
              {one.labels.map((each) => (
                <MarkView key={each.category} mark={gradeMark(each.grade, each.assumed)} className="list-mark" />
              ))}
            </span>
          </li>
        ))}
      </ul>
      {listing.more && (
        <button type="button" className="button small" onClick={listing.more}>
          {words.boards.more}
        </button>
      )}
    </div>
  );
};
