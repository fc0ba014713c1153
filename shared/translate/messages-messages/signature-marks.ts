import { isJsonObject, type Json } from '#shared/core/json.ts';
import type { MessagesBlock } from '#shared/formats/messages/request.ts';
import { addOriginMark, removeOriginMark } from '../vocabulary/origin-mark.ts';
import { isOwnSignature } from '../vocabulary/thinking.ts';

/** Patterns that match, for each field with signed content, the beginning of its value in a JSON text. */
const signedFieldStarts = { signature: /"signature"\s*:\s*"/, data: /"data"\s*:\s*"/ } as const;

/**
 * Returns the content of a block or delta that only its upstream can read, and the field of that content; undefined if there is no such
 * content.
 */
function signedPart(part: Json | undefined): { field: keyof typeof signedFieldStarts; signed: string } | undefined {
  if (!isJsonObject(part)) return undefined;
  const { type } = part;
  const field = type === 'thinking' || type === 'signature_delta' ? 'signature' : 'data';
  if (field === 'data' && type !== 'redacted_thinking') return undefined;
  const signed = part[field];
  return typeof signed === 'string' && signed !== '' ? { field, signed } : undefined;
}

/**
 * Adds the upstream's mark to a block of an answer. A later request may go to another upstream, which would refuse thinking that it has not
 * signed. Returns the same value if nothing is signed.
 */
export function withMark(block: Json, origin: string | undefined): Json {
  const part = signedPart(block);
  if (origin === undefined || !part || !isJsonObject(block)) return block;
  return { ...block, [part.field]: addOriginMark(part.signed, origin) };
}

/**
 * Adds the mark in the text of an event. All other bytes stay unchanged.
 * @param part the event's block or delta
 */
export function withMarkInText(text: string, part: Json | undefined, origin: string | undefined): string {
  const found = origin === undefined ? undefined : signedPart(part);
  if (origin === undefined || !found) return text;
  return text.replace(signedFieldStarts[found.field], (begun) => begun + addOriginMark('', origin));
}

/**
 * Returns a block of a request as its upstream sent it; undefined for thinking that another upstream, or the router, has signed. Returns
 * the same object if it has no mark.
 */
export function withoutMark(block: MessagesBlock, origin: string | undefined): MessagesBlock | undefined {
  const part = signedPart(block);
  if (!part) return block;
  const { field, signed } = part;
  if (isOwnSignature(signed)) return undefined;
  const own = removeOriginMark(signed, origin);
  if (own === signed) return block;
  return own === undefined ? undefined : { ...block, [field]: own };
}
