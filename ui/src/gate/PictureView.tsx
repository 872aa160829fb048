// The picture of a verdict, before and after the change.

import { useState } from "react";
import type { ChangeRecord, VerdictRecord } from "../api";
import { lineageAddress } from "../address";
import { isHidden, parseName, shortName } from "../names";
import { Section } from "../components/Section";
import { words } from "../texts";
import { BOX, HIDDEN, pictureOf, type PictureBox, type PictureLine } from "./picture";

const LONGEST = 26;
/** How much a wide picture shrinks to fit; beyond that it scrolls. */
const SMALLEST = 0.72;
const BREAKS = new Set(["removed", "renamed", "type", "broken reference"]);
const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

export const PictureView = ({ verdict }: { verdict: VerdictRecord }) => {
  const [isAfter, setAfter] = useState(true);
  const picture = pictureOf(verdict);
  if (!picture.boxes.length) return null;
  const margin = 6;
  const size = { width: picture.width + 2 * margin, height: picture.height + 2 * margin };
  return (
    <Section title={words.gate.picture}>
      <p className="quiet">{words.gate.pictureOf(verdict.changes.length, verdict.affected.length)}</p>
      <div className="switch" role="group" aria-label={words.gate.picture}>
        {[false, true].map((one) => (
          <button
            key={String(one)}
            type="button"
            className={one === isAfter ? "tool here" : "tool"}
            aria-pressed={one === isAfter}
            onClick={() => setAfter(one)}
          >
            {one ? words.gate.after : words.gate.before}
          </button>
        ))}
      </div>
      <div className="verdict-picture" role="region" aria-label={words.gate.pictureName} tabIndex={0}>
        <svg
          style={{ maxWidth: size.width, minWidth: size.width * SMALLEST }}
          viewBox={`${-margin} ${-margin} ${size.width} ${size.height}`}
          role="group"
          aria-label={words.gate.pictureOf(verdict.changes.length, verdict.affected.length)}
        >
          {picture.lines.map((one) => (
            <Line key={`${one.from.id}>${one.to.id}`} line={one} isAfter={isAfter} />
          ))}
          {picture.boxes.map((one) => (
            <BoxView key={one.id} box={one} isAfter={isAfter} />
          ))}
        </svg>
      </div>
      {picture.left > 0 && <p className="quiet">{words.gate.pictureMore(picture.left)}</p>}
    </Section>
  );
};

const Line = ({ line: { from, to, by }, isAfter }: { line: PictureLine; isAfter: boolean }) => {
  const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
  const bend = Math.max(28, (x2 - x1) / 2);
  const fate = !isAfter ? "" : from.changes.some((one) => BREAKS.has(one.kind)) ? " breaks" : " changes";
  const kind = by === "by value" ? "" : " indirect";
  return (
    <path
      className={`verdict-line${fate}${kind}`}
      d={`M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`}
    />
  );
};

/** What a changed box says: its first column as it was, or as it will be, and what happens to it. */
const changeText = (changes: readonly ChangeRecord[], isAfter: boolean): string => {
  const [first] = changes;
  if (!first) return "";
  const name = parseName(first.node);
  const column = name.kind === "field" ? name.field : words.gate.whole;
  const more = changes.length > 1 ? ` +${changes.length - 1}` : "";
  if (!isAfter) return `${column}${more}`;
  return `${first.kind === "renamed" && first.after ? `${column} → ${first.after}` : `${column}: ${first.kind}`}${more}`;
};

const BoxView = ({ box, isAfter }: { box: PictureBox; isAfter: boolean }) => {
  const isUnknown = box.id.startsWith(HIDDEN) || isHidden(box.id);
  const name = isUnknown ? HIDDEN : shortName(box.id);
  const fate = !isAfter
    ? ""
    : box.changes.some((one) => BREAKS.has(one.kind))
      ? " breaks"
      : box.changes.length
        ? " changed"
        : " hit";
  const note = box.changes.length ? changeText(box.changes, isAfter) : (box.hit?.kind ?? "");
  const drawn = (
    <g className={`verdict-box${fate}${isUnknown ? " unknown" : ""}`} transform={`translate(${box.x},${box.y})`}>
      <title>{isUnknown ? HIDDEN : box.id}</title>
      <rect width={BOX.width} height={BOX.height} rx="9" />
      <text x="12" y="19">
        {cut(name)}
      </text>
      <text x="12" y="36" className="verdict-box-note">
        {cut(note)}
      </text>
    </g>
  );
  return isUnknown ? drawn : <a href={lineageAddress(box.id)}>{drawn}</a>;
};
