import type { Document } from 'yaml';

/**
 * Converts a YAML document to plain JSON values.
 * @throws Error with a sentence as message, for aliases that expand to too much, or for an alias of something that contains it
 */
export function toPlainValue(document: Document): unknown {
  const content: unknown = document.toJS() ?? {};
  let text: string;
  try {
    text = JSON.stringify(content);
  } catch (cause) {
    throw new Error('an alias stands for something that contains it, or the text is nested too deeply', { cause });
  }
  return JSON.parse(text);
}

/**
 * Finds the paths of fields that are named `__proto__`. Schemas drop these fields silently, because a JavaScript object cannot have a field
 * of that name.
 */
export function findProtoFields(content: unknown, path: readonly string[] = []): string[][] {
  if (typeof content !== 'object' || content === null) return [];
  return Object.entries(content).flatMap(([name, value]) => {
    const place = [...path, name];
    return name === '__proto__' ? [place] : findProtoFields(value, place);
  });
}

export const noProtoFields = 'nothing can have this name';
