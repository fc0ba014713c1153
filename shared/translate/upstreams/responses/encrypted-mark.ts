import { isJsonObject, type Json } from '#shared/core/json.ts';
import { addOriginMark, removeOriginMark } from '../../vocabulary/origin-mark.ts';

/** Matches the beginning of each encrypted content in a JSON text. */
const encryptedKeys = /(?<!\\)"encrypted_content"\s*:\s*"(?=[^"])/g;

/**
 * Puts the upstream's mark in front of all encrypted content in a JSON text, because a later request may go to another upstream, which
 * would refuse content that it has not encrypted. All other bytes stay unchanged.
 * @param origin identifies the upstream and its account; if undefined, nothing is marked
 */
export function markEncrypted(text: string, origin: string | undefined): string {
  if (origin === undefined || !text.includes('"encrypted_content"')) return text;
  return text.replaceAll(encryptedKeys, (key) => key + addOriginMark('', origin));
}

/** Marks the encrypted content of a value. */
export function withMarks<Value extends Json>(value: Value, origin: string | undefined): Value {
  if (origin === undefined) return value;
  return mapEncrypted(value, (encrypted) => addOriginMark(encrypted, origin)) as Value;
}

/**
 * Removes the marks from a value, so that its encrypted content is as the upstream sent it. Returns undefined if any content has the mark
 * of another upstream.
 */
export function withoutMarks<Value extends Json>(value: Value, origin: string | undefined): Value | undefined {
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
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  const changed = Object.entries(value).flatMap(([key, of]): [string, Json][] => {
    if (of === undefined) return [];
    const to =
      key === 'encrypted_content' && typeof of === 'string' && of !== '' ? change(of) : mapEncrypted(of, change);
    return to === of ? [] : [[key, to]];
  });
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}
