// The columns of a dataset, as a table.

import { useEffect, useMemo, useRef, useState } from "react";
import type { Dataset, Sensitivity } from "../../api";
import { explorerAddress, fresh, lineageAddress } from "../../address";
import { MarkView } from "../../explorer/lens";
import { TagsEditor } from "../../facts/editors";
import { columnsOf, fieldId, isHiddenField } from "../../names";
import { Go, HiddenColumns } from "../../components/elements";
import { Section } from "../../components/Section";
import { gradeMark, isCategory } from "../../sensitivity/grades";
import { useSensitivity } from "../../sensitivity/labels";
import { words } from "../../texts";

interface SchemaProps {
  dataset: Dataset;
  mayEdit: boolean;
  /** The column that the address names. */
  marked: string | undefined;
}

export const Schema = ({ dataset, mayEdit, marked }: SchemaProps) => {
  const [filter, setFilter] = useState("");
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    row.current?.scrollIntoView({ block: "center" });
  }, [marked]);
  const every = columnsOf(dataset);
  const fields = every.filter((one) => !isHiddenField(one.name));
  const labels = useLabelsOf(dataset.node);
  const fitting = fields.filter((one) => one.name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <Section title={words.node.schema} count={every.length}>
      {fields.length > 20 && (
        <input
          className="input"
          value={filter}
          placeholder={words.explorer.findColumn(fields.length)}
          aria-label={words.explorer.findColumn(fields.length)}
          onChange={(event) => setFilter(event.target.value)}
        />
      )}
      <HiddenColumns count={every.length - fields.length} />
      {every.length > 0 && dataset.fields.length === 0 && <p className="quiet">{words.explorer.ofLineage}</p>}
      {every.length === 0 ? (
        <p className="quiet">{words.explorer.noColumns}</p>
      ) : (
        <table className="table plain stacks">
          <thead>
            <tr>
              <th scope="col">{words.node.column}</th>
              <th scope="col">{words.node.type}</th>
              <th scope="col">{words.node.columnDescription}</th>
              <th scope="col">{words.node.tags}</th>
              {labels.size > 0 && <th scope="col">{words.labels.column}</th>}
            </tr>
          </thead>
          <tbody>
            {firstWith(fitting, marked, 500).map((one) => (
              <tr
                key={one.name}
                ref={one.name === marked ? row : undefined}
                className={one.name === marked ? "marked" : undefined}
                aria-current={one.name === marked || undefined}
              >
                <th scope="row">
                  <Go to={lineageAddress(fieldId(dataset.node, one.name))} className="mono">
                    {one.name}
                  </Go>
                </th>
                <td className="mono quiet" data-label={one.type && words.node.type}>
                  {one.type}
                </td>
                <td data-label={one.description && words.node.columnDescription}>{one.description}</td>
                <td className="cell-tags">
                  <TagsEditor
                    node={dataset.node}
                    facts={dataset}
                    mayEdit={mayEdit}
                    field={one.name}
                    label={words.edit.addTagTo(one.name)}
                  />
                </td>
                {labels.size > 0 && (
                  <td data-label={labels.has(fieldId(dataset.node, one.name)) ? words.labels.column : undefined}>
                    {labels.get(fieldId(dataset.node, one.name))?.map((label) => (
                      <Go
                        key={label.category}
                        className="label-link"
                        to={explorerAddress({
                          ...fresh(label.node),
                          lens: isCategory(label.category) ? label.category : undefined,
                          panel: "label",
                        })}
                      >
                        <span className="quiet">{words.labels.categories[label.category] ?? label.category}</span>
                        <MarkView mark={gradeMark(label.grade, label.assumed)} className="list-mark" />
                      </Go>
                    ))}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {fitting.length > 500 && <p className="quiet">{words.explorer.moreColumns(fitting.length - 500)}</p>}
    </Section>
  );
};

type Labels = Sensitivity["labels"];

/** The labels of a dataset's columns, by column. */
const useLabelsOf = (node: string): ReadonlyMap<string, Labels> => {
  const { answer } = useSensitivity(node, "upstream");
  return useMemo(() => {
    const found = new Map<string, Labels>();
    for (const one of answer?.data.labels ?? []) found.set(one.node, [...(found.get(one.node) ?? []), one]);
    return found;
  }, [answer]);
};

/** The first columns, and the marked one at any position. */
const firstWith = (fields: Dataset["fields"], marked: string | undefined, most: number): Dataset["fields"] =>
  fields.filter((one, at) => at < most || one.name === marked);
