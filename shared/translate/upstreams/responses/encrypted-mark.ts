import { isJsonObject, type Json } from '#shared/core/json.ts';
import { marked, unmarked } from '../../vocabulary/origin-mark.ts';

/** The beginning of each encrypted content in the text of a JSON value. */
const encryptedKeys = /(?<!\\)"encrypted_content"\s*:\s*"(?=[^"])/g;

/**
 * Puts the mark of the upstream in front of all encrypted content in the text of a JSON value: a later request may go to another
 * upstream, which would refuse what it has not made. All other bytes stay as they are.
 * @param origin what stands for the upstream and its account; undefined marks nothing
 */
export function markEncrypted(text: string, origin: string | undefined): string {
  if (origin === undefined || !text.includes('"encrypted_content"')) return text;
  return text.replaceAll(encryptedKeys, (key) => key + marked('', origin));
}

/** The same for a value. */
export function withMarks<Value extends Json>(value: Value, origin: string | undefined): Value {
  if (origin === undefined) return value;
  return mapEncrypted(value, (encrypted) => marked(encrypted, origin)) as Value;
}

/** A value with its encrypted content as it came from the upstream; undefined if some of it has the mark of another one. */
export function withoutMarks<Value extends Json>(value: Value, origin: string | undefined): Value | undefined {
  let isForeign = false;
  const plain = mapEncrypted(value, (encrypted) => {
    const own = unmarked(encrypted, origin);
    isForeign ||= own === undefined;
    return own ?? '';
  });
  return isForeign ? undefined : (plain as Value);
}

/** Changes the encrypted content at any depth. What contains none is the same object. */
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
