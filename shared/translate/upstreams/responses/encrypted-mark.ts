import { isJsonObject, type Json } from '#shared/core/json.ts';
import { addOriginMark, removeOriginMark } from '../../vocabulary/origin-mark.ts';

/** Matches the field name and opening quote before each non-empty `encrypted_content` in JSON text. */
const encryptedKeys = /(?<!\\)"encrypted_content"\s*:\s*"(?=[^"])/g;

/**
 * Puts the upstream's mark in front of all encrypted content in JSON text. A later request may go to another upstream, which would refuse
 * content that it has not encrypted. All other bytes stay unchanged.
 * @param origin identifies the upstream and its account; if undefined, nothing is marked
 */
export function markEncrypted(text: string, origin: string | undefined): string {
  if (origin === undefined || !text.includes('"encrypted_content"')) return text;
  return text.replaceAll(encryptedKeys, (key) => key + addOriginMark('', origin));
}

/** Adds the upstream's mark to the encrypted content in a value. */
export function addMarks<Value extends Json>(value: Value, origin: string | undefined): Value {
  if (origin === undefined) return value;
  return mapEncrypted(value, (encrypted) => addOriginMark(encrypted, origin)) as Value;
}

/** Removes the marks from the encrypted content in a value. Returns undefined if any content has the mark of another upstream. */
export function removeMarks<Value extends Json>(value: Value, origin: string | undefined): Value | undefined {
  let isForeign = false;
  const plain = mapEncrypted(value, (encrypted) => {
    const unmarked = removeOriginMark(encrypted, origin);
    isForeign ||= unmarked === undefined;
    return unmarked ?? '';
  });
  return isForeign ? undefined : (plain as Value);
}

/** Changes the encrypted content in a value, at any depth. Returns the same value if there is no such content. */
function mapEncrypted(value: Json, change: (encrypted: string) => string): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => mapEncrypted(item, change));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  const changed = Object.entries(value).flatMap(([key, fieldValue]): [string, Json][] => {
    if (fieldValue === undefined) return [];
    const newValue =
      key === 'encrypted_content' && typeof fieldValue === 'string' && fieldValue !== ''
        ? change(fieldValue)
        : mapEncrypted(fieldValue, change);
    return newValue === fieldValue ? [] : [[key, newValue]];
  });
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}
