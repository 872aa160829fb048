// The graph as an image: the rendered boxes as plain SVG, without scripts or foreign objects.

import type { Rect, Viewport } from "@xyflow/react";
import { save } from "./files";

const ROOM = 28;
const MOST_PIXELS = 16_000_000;
const LONGEST_SIDE = 12_000;
/** Controls, which are left out of the image. */
const CONTROLS = ".hop, .react-flow__handle, .box-fold, .box-find";

interface Frame {
  x: (x: number) => number;
  y: (y: number) => number;
  zoom: number;
}

/** The graph with its legend below, as SVG. `bounds` are the boxes' in the graph's own coordinates. */
export const drawing = (bounds: Rect, viewport: Viewport): string => {
  const stage = document.querySelector<HTMLElement>(".react-flow")!;
  const at = stage.getBoundingClientRect();
  const frame: Frame = {
    x: (x) => (x - at.left - viewport.x) / viewport.zoom,
    y: (y) => (y - at.top - viewport.y) / viewport.zoom,
    zoom: viewport.zoom,
  };
  const lines = [...stage.querySelectorAll<SVGPathElement>("path.react-flow__edge-path")].map(line);
  const boxes = [...stage.querySelectorAll(".react-flow__node")].map((one) => element(one, frame));
  const legend = document.querySelector(".legend");
  const below = legend ? legendOf(legend, bounds) : { text: "", width: 0, height: 0 };
  const [x, y] = [bounds.x - ROOM, bounds.y - ROOM];
  const width = Math.max(bounds.width, below.width) + 2 * ROOM;
  const height = bounds.height + 2 * ROOM + below.height;
  const page = getComputedStyle(document.documentElement).backgroundColor;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" viewBox="${n(x)} ${n(y)} ${n(width)} ${n(height)}" font-family="Inter, system-ui, sans-serif">`,
    `<rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" fill="${page}"/>`,
    ...lines,
    ...boxes,
    below.text,
    "</svg>",
  ].join("\n");
};

export const saveSvg = (svg: string, name: string): void => save(`${name}.svg`, "image/svg+xml", svg);

export const savePng = async (svg: string, name: string): Promise<void> => {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const scale = Math.min(2, Math.sqrt(MOST_PIXELS / (width * height)), LONGEST_SIDE / Math.max(width, height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (blob) save(`${name}.png`, "image/png", blob);
};

const legendOf = (legend: Element, bounds: Rect): { text: string; width: number; height: number } => {
  const at = legend.getBoundingClientRect();
  const frame: Frame = {
    x: (x) => x - at.left + bounds.x,
    y: (y) => y - at.top + bounds.y + bounds.height + ROOM,
    zoom: 1,
  };
  return { text: element(legend, frame), width: at.width, height: at.height + ROOM / 2 };
};

const n = (value: number): string => String(Math.round(value * 100) / 100);

const text = (value: string): string =>
  value
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\ufffd") // XML has no others
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

const isSeen = (colour: string): boolean => colour !== "transparent" && !/[,/]\s*0\)$/.test(colour);

const line = (path: SVGPathElement): string => {
  const css = getComputedStyle(path);
  const dash = css.strokeDasharray === "none" ? "" : ` stroke-dasharray="${css.strokeDasharray.replaceAll("px", "")}"`;
  const length = path.getTotalLength();
  const end = path.getPointAtLength(length);
  const back = end.x < path.getPointAtLength(length - 1).x ? end.x + 9 : end.x - 9;
  const head = `<path d="M${n(back)} ${n(end.y - 4.5)}L${n(end.x)} ${n(end.y)}L${n(back)} ${n(end.y + 4.5)}z" fill="${css.stroke}"/>`;
  const drawn = `<path d="${path.getAttribute("d")}" fill="none" stroke="${css.stroke}" stroke-width="${n(parseFloat(css.strokeWidth))}" stroke-linecap="${css.strokeLinecap}"${dash}/>`;
  return grouped([drawn, head], css.opacity);
};

const grouped = (parts: readonly string[], opacity: string): string => {
  const drawn = parts.filter(Boolean).join("\n");
  return drawn && opacity !== "1" ? `<g opacity="${opacity}">\n${drawn}\n</g>` : drawn;
};

const element = (one: Element, frame: Frame): string => {
  const css = getComputedStyle(one);
  if (css.display === "none" || css.visibility === "hidden" || css.opacity === "0" || one.matches(CONTROLS)) return "";
  if (one instanceof SVGSVGElement) return shape(one, css, frame);
  const parts = [frameOf(one, css, frame)];
  // Elements with a higher z-index are drawn last.
  const children = [...one.childNodes].sort((a, b) => Number(isAbove(a)) - Number(isAbove(b)));
  for (const child of children) {
    if (child instanceof Element) parts.push(element(child, frame));
    else if (child instanceof Text && child.data.trim()) parts.push(words(child, one, css, frame));
  }
  return grouped(parts, css.opacity);
};

const isAbove = (one: Node): boolean => one instanceof Element && getComputedStyle(one).position === "absolute";

/** A box's ground and border. */
const frameOf = (one: Element, css: CSSStyleDeclaration, frame: Frame): string => {
  const at = one.getBoundingClientRect();
  const border = parseFloat(css.borderTopWidth) || 0;
  const hasBorder = border > 0 && css.borderTopStyle !== "none" && isSeen(css.borderTopColor);
  const isWhole = hasBorder && parseFloat(css.borderLeftWidth) > 0;
  if (!at.width || (!isSeen(css.backgroundColor) && !hasBorder)) return "";
  const [x, y] = [frame.x(at.left), frame.y(at.top)];
  const [width, height] = [at.width / frame.zoom, at.height / frame.zoom];
  const inset = isWhole ? border / 2 : 0;
  const radius = Math.min(parseFloat(css.borderTopLeftRadius) || 0, width / 2, height / 2);
  const fill = isSeen(css.backgroundColor) ? css.backgroundColor : "none";
  const stroke = isWhole
    ? ` stroke="${css.borderTopColor}" stroke-width="${n(border)}"${css.borderTopStyle === "dashed" ? ' stroke-dasharray="6 4"' : ""}`
    : "";
  const ground =
    fill === "none" && !stroke
      ? ""
      : `<rect x="${n(x + inset)}" y="${n(y + inset)}" width="${n(width - 2 * inset)}" height="${n(height - 2 * inset)}" rx="${n(radius)}" fill="${fill}"${stroke}/>`;
  const rule =
    hasBorder && !isWhole
      ? `<path d="M${n(x)} ${n(y + border / 2)}h${n(width)}" stroke="${css.borderTopColor}" stroke-width="${n(border)}"/>`
      : "";
  return ground + rule;
};

const shape = (one: SVGSVGElement, css: CSSStyleDeclaration, frame: Frame): string => {
  const at = one.getBoundingClientRect();
  const [width, height] = [at.width / frame.zoom, at.height / frame.zoom];
  const box = one.getAttribute("viewBox") ?? `0 0 ${n(width)} ${n(height)}`;
  const paths = [...one.querySelectorAll("path, circle, ellipse, rect")].map((part) => {
    const own = getComputedStyle(part);
    const shape = [...part.attributes]
      .filter(({ name }) => /^(d|c[xy]|r[xy]?|x|y|width|height)$/.test(name))
      .map(({ name, value }) => `${name}="${text(value)}"`);
    const dash =
      own.strokeDasharray === "none" ? "" : ` stroke-dasharray="${own.strokeDasharray.replaceAll("px", "")}"`;
    return `<${part.tagName} ${shape.join(" ")} fill="${own.fill}" stroke="${own.stroke}" stroke-width="${n(parseFloat(own.strokeWidth))}" stroke-linecap="${own.strokeLinecap}" stroke-linejoin="${own.strokeLinejoin}"${dash}/>`;
  });
  const drawn = `<svg x="${n(frame.x(at.left))}" y="${n(frame.y(at.top))}" width="${n(width)}" height="${n(height)}" viewBox="${box}">${paths.join("")}</svg>`;
  return grouped([drawn], css.opacity);
};

const pen = document.createElement("canvas").getContext("2d")!;

/** A run of text as wide as the browser drew it, cut where it cut it. */
const words = (node: Text, parent: Element, css: CSSStyleDeclaration, frame: Frame): string => {
  const range = document.createRange();
  range.selectNodeContents(node);
  const at = range.getBoundingClientRect();
  const seen = parent.getBoundingClientRect();
  if (!at.width || !at.height || seen.width < 2) return "";
  const size = parseFloat(css.fontSize);
  const room = Math.min(at.width, seen.right - at.left) / frame.zoom;
  pen.font = `${css.fontWeight} ${css.fontSize} ${css.fontFamily}`;
  const shown = css.textOverflow === "ellipsis" && at.right > seen.right + 1 ? cut(node.data, room) : node.data;
  const family = css.fontFamily.includes("Mono") ? ' font-family="ui-monospace, monospace"' : "";
  const middle = frame.y((at.top + at.bottom) / 2) + size * 0.36;
  return `<text x="${n(frame.x(at.left))}" y="${n(middle)}" font-size="${n(size)}" font-weight="${css.fontWeight}" fill="${css.color}" textLength="${n(room)}" lengthAdjust="spacingAndGlyphs"${family}>${text(shown.replaceAll(/\s+/g, " ").trim())}</text>`;
};

const cut = (all: string, room: number): string => {
  let kept = all.trim();
  while (kept && pen.measureText(`${kept}…`).width > room) kept = kept.slice(0, -1);
  return `${kept}…`;
};
