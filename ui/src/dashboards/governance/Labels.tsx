// How many columns of each namespace are sensitive, by grade, and the list behind each number.

import { useEffect, useRef } from "react";
import { usePages, type Found, type LabelsByNamespace, type PageOf } from "../../api";
import { Awaited, Go, Icon, NodeLink, When } from "../../components/elements";
import { MarkView } from "../../explorer/lens";
import { CATEGORIES, GRADES, gradeMark, isCategory, type Category } from "../../sensitivity/grades";
import { words } from "../../texts";
import { boardAddress } from "../dashboardAddress";
import { Paged } from "../Paged";

const texts = words.governance;

export const labelsQuery = (category: Category) => ["labels", { category, limit: 50 }] as const;

interface Wanted {
  label: Category;
  grade?: string;
  namespace?: string;
}

export const wantedLabels = (query: URLSearchParams): Wanted => {
  const label = query.get("label") ?? undefined;
  return {
    label: isCategory(label) ? label : "pii",
    grade: GRADES.find((one) => one === query.get("grade")),
    namespace: query.get("namespace") ?? undefined,
  };
};

const to = ({ label, grade, namespace }: Wanted): string =>
  boardAddress("governance", { label, grade, namespace }) + "#labels";

export const Labels = ({ query }: { query: URLSearchParams }) => {
  const wanted = wantedLabels(query);
  const listing = usePages<PageOf<LabelsByNamespace>>(...labelsQuery(wanted.label));
  const first = listing.pages[0]?.data;
  const rows = listing.pages.flatMap((page) => page.data.namespaces);
  const category = words.labels.categories[wanted.label] ?? wanted.label;
  return (
    <section className="section" id="labels">
      <h2>{texts.labels}</h2>
      <p className="quiet">{texts.labelsOf}</p>
      <p className="chips" role="group" aria-label={texts.category}>
        {CATEGORIES.map((one) => (
          <Go
            key={one}
            to={to({ label: one })}
            className={one === wanted.label ? "chip chip-button chip-here" : "chip chip-button"}
            isCurrent={one === wanted.label}
          >
            {words.labels.categories[one] ?? one}
          </Go>
        ))}
      </p>
      <Paged of={listing} isEmpty={!rows.length} none={<NoLabels category={category} />} lines={5}>
        {first && (
          <div className="scroll" tabIndex={0} role="region" aria-label={texts.labels}>
            <table className="table plain label-counts">
              <thead>
                <tr>
                  <th scope="col">{texts.namespace}</th>
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
                {rows.length > 1 && <Counts of={first.columns} label={wanted.label} />}
                {rows.map((one) => (
                  <Counts
                    key={one.namespace}
                    of={one.columns}
                    label={wanted.label}
                    namespace={one.namespace}
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
  of: LabelsByNamespace["columns"];
  label: Category;
  /** All namespaces, if it is left out. */
  namespace?: string;
  datasets?: number;
}

const Counts = ({ of, label, namespace, datasets }: CountsProps) => (
  <tr className={namespace === undefined ? "total" : undefined}>
    <th scope="row" className="breaks">
      {namespace ?? texts.all}
    </th>
    {GRADES.map((grade) => (
      <td key={grade} className="number">
        {of[grade] ? (
          <Go
            to={to({ label, grade, namespace })}
            className="link-button"
            label={texts.cell(of[grade], words.labels.grades[grade] ?? grade, namespace ?? texts.all)}
          >
            {of[grade].toLocaleString("en")}
          </Go>
        ) : (
          <span className="quiet">0</span>
        )}
      </td>
    ))}
    <td className="number quiet">{datasets?.toLocaleString("en")}</td>
  </tr>
);

const Notes = ({ of }: { of: LabelsByNamespace }) => (
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

const Listed = ({ label, grade, namespace }: Wanted & { grade: string }) => {
  const list = useRef<HTMLDivElement>(null);
  const q = `label:${label}=${grade}`;
  const listing = usePages<{ data: Found; page: { next: string | null } | null }>("search", {
    q,
    kind: "field",
    namespace,
    names: 10_000,
    limit: 50,
  });
  // It may be far below what led to it. Browsers answer with a promise, which is no clean-up of an effect.
  useEffect(() => {
    list.current?.scrollIntoView({ block: "nearest" });
  }, [q, namespace]);
  const rows = listing.pages.flatMap((page) => page.data.nodes);
  return (
    <div className="lacking" ref={list}>
      <div className="section-head">
        <h3 className="breaks">{texts.listOf(words.labels.grades[grade] ?? grade, namespace)}</h3>
        <Go to={boardAddress("governance", { label })} className="link-button">
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
