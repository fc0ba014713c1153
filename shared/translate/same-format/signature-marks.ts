import { isJsonObject, type Json } from '#shared/core/json.ts';
import type { MessagesBlock } from '#shared/formats/messages/request.ts';
import { addOriginMark, removeOriginMark } from '../vocabulary/origin-mark.ts';
import { isOwnSignature } from '../vocabulary/thinking.ts';

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
export function addMark(block: Json, origin: string | undefined): Json {
  const part = findSignedContent(block);
  if (origin === undefined || !part || !isJsonObject(block)) return block;
  return { ...block, [part.field]: addOriginMark(part.signed, origin) };
}

/**
 * Adds the upstream's mark to signed content in the text of an event. All other bytes stay unchanged.
 * @param part the event's block or delta
 */
export function addMarkInText(text: string, part: Json | undefined, origin: string | undefined): string {
  const signedContent = origin === undefined ? undefined : findSignedContent(part);
  if (origin === undefined || !signedContent) return text;
  return text.replace(signedFieldStarts[signedContent.field], (beginning) => beginning + addOriginMark('', origin));
}

/**
 * Removes the upstream's mark from a block of a request. Returns undefined for thinking that the router or another upstream has signed, and
 * the same object for a block without a mark.
 */
export function removeMark(block: MessagesBlock, origin: string | undefined): MessagesBlock | undefined {
  const part = findSignedContent(block);
  if (!part) return block;
  const { field, signed } = part;
  if (isOwnSignature(signed)) return undefined;
  const unmarked = removeOriginMark(signed, origin);
  if (unmarked === signed) return block;
  return unmarked === undefined ? undefined : { ...block, [field]: unmarked };
}
