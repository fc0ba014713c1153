import { isJsonObject, type Json } from '#shared/core/json.ts';
import type { MessagesBlock } from '#shared/formats/messages/request.ts';
import { isOwnSignature } from './thinking.ts';

/** Start of an upstream's mark. Encrypted or signed content never begins with this text, because no base64 alphabet has a dot. */
const markStart = 'rtr.';

/**
 * Puts the mark of the upstream and its account (see `AnswerContext.origin`) in front of content that the upstream has encrypted or signed.
 */
function addOriginMark(encrypted: string, origin: string): string {
  return `${markStart}${origin}.${encrypted}`;
}

/**
 * Removes the upstream's own mark from content. Returns undefined for content with the mark of another upstream. Returns content without a
 * mark unchanged.
 */
function removeOriginMark(encrypted: string, origin: string | undefined): string | undefined {
  if (!encrypted.startsWith(markStart)) return encrypted;
  const ownMark = addOriginMark('', origin ?? '');
  return origin !== undefined && encrypted.startsWith(ownMark) ? encrypted.slice(ownMark.length) : undefined;
}

/** Patterns for the fields with signed content. Each matches the beginning of its field in JSON text, up to the value. */
const signedFieldStarts = { signature: /"signature"\s*:\s*"/, data: /"data"\s*:\s*"/ } as const;

/**
 * Finds content that only its upstream can read: the signature or the redacted data of a block or delta. Also returns the name of its
 * field. Returns undefined for any other block or delta.
 */
function findSignedContent(
  part: Json | undefined,
): { field: keyof typeof signedFieldStarts; signed: string } | undefined {
  if (!isJsonObject(part)) return undefined;
  const { type } = part;
  const field = type === 'thinking' || type === 'signature_delta' ? 'signature' : 'data';
  if (field === 'data' && type !== 'redacted_thinking') return undefined;
  const signed = part[field];
  return typeof signed === 'string' && signed !== '' ? { field, signed } : undefined;
}

/**
 * Adds the upstream's mark to signed content of a block. A later request may go to another upstream, which would refuse thinking that it
 * has not signed. Returns the same value if nothing in the block is signed.
 */
export function addBlockMark(block: Json, origin: string | undefined): Json {
  const part = findSignedContent(block);
  if (origin === undefined || !part || !isJsonObject(block)) return block;
  return { ...block, [part.field]: addOriginMark(part.signed, origin) };
}

/**
 * Adds the upstream's mark to signed content in the text of an event. All other bytes stay unchanged.
 * @param part the event's block or delta
 */
export function addBlockMarkInText(text: string, part: Json | undefined, origin: string | undefined): string {
  const signedContent = origin === undefined ? undefined : findSignedContent(part);
  if (origin === undefined || !signedContent) return text;
  return text.replace(signedFieldStarts[signedContent.field], (beginning) => beginning + addOriginMark('', origin));
}

/**
 * Removes the upstream's mark from a block of a request. Returns undefined for thinking that the router or another upstream has signed, and
 * the same object for a block without a mark.
 */
export function removeBlockMark(block: MessagesBlock, origin: string | undefined): MessagesBlock | undefined {
  const part = findSignedContent(block);
  if (!part) return block;
  const { field, signed } = part;
  if (isOwnSignature(signed)) return undefined;
  const unmarked = removeOriginMark(signed, origin);
  if (unmarked === signed) return block;
  return unmarked === undefined ? undefined : { ...block, [field]: unmarked };
}

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
export function addItemMarks<Value extends Json>(value: Value, origin: string | undefined): Value {
  if (origin === undefined) return value;
  return mapEncrypted(value, (encrypted) => addOriginMark(encrypted, origin)) as Value;
}

/** Removes the marks from the encrypted content in a value. Returns undefined if any content has the mark of another upstream. */
export function removeItemMarks<Value extends Json>(value: Value, origin: string | undefined): Value | undefined {
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
