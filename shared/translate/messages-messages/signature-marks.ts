import { isJsonObject, type Json } from '#shared/core/json.ts';
import type { MessagesBlock } from '#shared/formats/messages/request.ts';
import { addOriginMark, removeOriginMark } from '../vocabulary/origin-mark.ts';
import { isOwnSignature } from '../vocabulary/thinking.ts';

/** Patterns that match, for each field with signed content, the beginning of its value in a JSON text. */
const signedFieldStarts = { signature: /"signature"\s*:\s*"/, data: /"data"\s*:\s*"/ } as const;

/**
 * Returns the signature or redacted data of a block or delta, which only its upstream can read, and the name of the field with it;
 * undefined for any other block or delta.
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
 * Adds the upstream's mark to signed content of a block, because a later request may go to another upstream, which would refuse thinking
 * that it has not signed. Returns the same value if nothing in the block is signed.
 */
export function withMark(block: Json, origin: string | undefined): Json {
  const part = findSignedContent(block);
  if (origin === undefined || !part || !isJsonObject(block)) return block;
  return { ...block, [part.field]: addOriginMark(part.signed, origin) };
}

/**
 * Adds the upstream's mark to signed content in the text of an event. All other bytes stay unchanged.
 * @param part the event's block or delta
 */
export function withMarkInText(text: string, part: Json | undefined, origin: string | undefined): string {
  const found = origin === undefined ? undefined : findSignedContent(part);
  if (origin === undefined || !found) return text;
  return text.replace(signedFieldStarts[found.field], (begun) => begun + addOriginMark('', origin));
}

/**
 * Removes the upstream's mark from a block of a request. Returns undefined for thinking that another upstream, or the router, has signed,
 * and the same object if there is no mark.
 */
export function withoutMark(block: MessagesBlock, origin: string | undefined): MessagesBlock | undefined {
  const part = findSignedContent(block);
  if (!part) return block;
  const { field, signed } = part;
  if (isOwnSignature(signed)) return undefined;
  const unmarked = removeOriginMark(signed, origin);
  if (unmarked === signed) return block;
  return unmarked === undefined ? undefined : { ...block, [field]: unmarked };
}
