// Short labels for long texts. Texts that stand side by side never get the same label. Pure; imports nothing.

const CUT = "…";

const sharedStart = (texts: readonly string[]): number => {
  const [first = "", ...rest] = texts;
  let length = 0;
  while (length < first.length && rest.every((one) => one[length] === first[length])) length += 1;
  return length;
};

const sharedEnd = (texts: readonly string[]): number => sharedStart(texts.map((one) => [...one].reverse().join("")));

/** The end of `text` from the last boundary that is at or before `at`: a word is not cut where it can be kept. */
const wordStart = (text: string, at: number): number => {
  const before = text.slice(0, at);
  return before.length - (/[a-z0-9]*$/i.exec(before)?.[0].length ?? 0);
};

const middle = (text: string, from: number, to: number, most: number): string => {
  const room = most - 2;
  const start = Math.max(0, Math.min(wordStart(text, from), to - 1));
  const end = Math.min(text.length, Math.max(to, start + 1));
  const kept = end - start <= room ? text.slice(start, end) : text.slice(start, start + room);
  return `${start > 0 ? CUT : ""}${kept}${start + kept.length < text.length ? CUT : ""}`;
};

/** What one text may be called, the best first. */
const candidates = (text: string, alike: readonly string[], most: number): string[] => {
  const start = sharedStart(alike);
  const end = text.length - sharedEnd(alike);
  const half = Math.floor((most - 1) / 2);
  const ends = `${text.slice(0, most - 1 - half)}${CUT}${text.slice(-half)}`;
  const beginning = text.slice(0, most - 1) + CUT;
  const tail = CUT + text.slice(1 - most);
  const others = alike.filter((one) => one !== text);
  const differing = others.map((one) => sharedStart([text, one]));
  const windows = differing.map((at) => middle(text, at, at + most, most));
  const spoken = environmentAt(text);
  const telling = spoken === undefined ? [] : [middle(text, spoken, spoken + most, most)];
  if (!others.length) return [...telling, ends];
  return [...telling, middle(text, start, end, most), beginning, ends, tail, ...windows];
};

/** A label of at most `most` characters for each text, all of them different; the whole text if there is no such. */
export const labelsOf = (texts: readonly string[], most: number): Map<string, string> => {
  const all = [...new Set(texts)];
  const long = all.filter((one) => one.length > most);
  const taken = new Map(all.filter((one) => one.length <= most).map((one) => [one, one]));
  const options = new Map(long.map((one) => [one, candidates(one, long, most)]));
  const made = new Map(taken);
  const wanted = new Map<string, number>();
  for (const some of options.values()) for (const one of new Set(some)) wanted.set(one, (wanted.get(one) ?? 0) + 1);
  for (const [text, some] of options) {
    const free = some
      .map((one) => one.toWellFormed())
      .find((one) => one.length <= most && wanted.get(one) === 1 && !taken.has(one));
    made.set(text, free ?? text);
  }
  return made;
};

/** The kind of environment in the words of a namespace, if any. */
export type Environment = "prod" | "staging" | "dev" | "test";

const ENVIRONMENTS: readonly [RegExp, Environment][] = [
  [/(^|[^a-z])(pre[-_.]?prod|pre[-_.]?production|staging|stage|stg|uat)\d*([^a-z]|$)/i, "staging"],
  [/(^|[^a-z])(non[-_.]?prod|development|develop|dev|sandbox|localhost|local)\d*([^a-z]|$)/i, "dev"],
  [/(^|[^a-z])(prod|production|prd|live)\d*([^a-z]|$)/i, "prod"],
  [/(^|[^a-z])(test|testing|qa|ci)\d*([^a-z]|$)/i, "test"],
];
const HUES = 6;

const environmentAt = (text: string): number | undefined => {
  const found = ENVIRONMENTS.map(([pattern]) => pattern.exec(text)).find((one) => one !== null);
  return found ? found.index + (found[1] ?? "").length : undefined;
};

export const environmentOf = (text: string): Environment | undefined =>
  ENVIRONMENTS.find(([pattern]) => pattern.test(text))?.[1];

/** The class of a namespace's chip: the same for the same text, wherever it is shown. */
export const toneOf = (text: string): string => {
  let hash = 2166136261;
  for (const one of text) hash = Math.imul(hash ^ one.codePointAt(0)!, 16777619) >>> 0;
  return `env-${environmentOf(text) ?? hash % HUES}`;
};
