import type { Document } from 'yaml';

/**
 * Converts a YAML document to plain JSON values.
 * @throws Error with a sentence as message, if aliases expand to too much text, or if an alias stands for something that contains the alias
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
    const fieldPath = [...path, name];
    return name === '__proto__' ? [fieldPath] : findProtoFields(value, fieldPath);
  });
}

export const protoFieldMessage = 'nothing can have this name';
