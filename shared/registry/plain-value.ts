import type { Document } from 'yaml';

/**
 * What a YAML document says, as JSON has it.
 * @throws Error with a sentence, for aliases that stand for too much, or for something that contains them
 */
export function plainValue(document: Document): unknown {
  const said: unknown = document.toJS() ?? {};
  let text: string;
  try {
    text = JSON.stringify(said);
  } catch (cause) {
    throw new Error('an alias stands for something that contains it, or the text is nested too deeply', { cause });
  }
  return JSON.parse(text);
}

/**
 * The fields that are called `__proto__`, as paths: a JavaScript object has no such field of its own, so that schemas leave them out and
 * nobody would find what they name.
 */
export function protoFields(said: unknown, path: readonly string[] = []): string[][] {
  if (typeof said !== 'object' || said === null) return [];
  return Object.entries(said).flatMap(([name, value]) => {
    const place = [...path, name];
    return name === '__proto__' ? [place] : protoFields(value, place);
  });
}

/** What is said of such a field. */
export const noProtoFields = 'nothing can have this name';
