import { isJsonObject, type Json } from '#shared/core/json.ts';
import type { MessagesBlock } from '#shared/formats/messages/request.ts';
import { marked, unmarked } from '../vocabulary/origin-mark.ts';
import { isSyntheticSignature } from '../vocabulary/thinking.ts';

/** The beginning of what is signed in the text of a JSON value, by its field. */
const beginnings = { signature: /"signature"\s*:\s*"/, data: /"data"\s*:\s*"/ } as const;

/** What only its upstream reads of a block, or of a delta, and its field; undefined for one without such. */
function signedPart(part: Json | undefined): { field: keyof typeof beginnings; signed: string } | undefined {
  if (!isJsonObject(part)) return undefined;
  const { type } = part;
  const field = type === 'thinking' || type === 'signature_delta' ? 'signature' : 'data';
  if (field === 'data' && type !== 'redacted_thinking') return undefined;
  const signed = part[field];
  return typeof signed === 'string' && signed !== '' ? { field, signed } : undefined;
}

/**
 * A block of an answer with the mark of its upstream: a later request may go to another upstream, which would refuse thinking that it
 * has not signed. The same value if there is nothing to mark.
 */
export function withMark(block: Json, origin: string | undefined): Json {
  const part = signedPart(block);
  if (origin === undefined || !part || !isJsonObject(block)) return block;
  return { ...block, [part.field]: marked(part.signed, origin) };
}

/**
 * The same in the text of an event. All other bytes stay as they are.
 * @param part the event's block or delta
 */
export function withMarkInText(text: string, part: Json | undefined, origin: string | undefined): string {
  const found = origin === undefined ? undefined : signedPart(part);
  if (origin === undefined || !found) return text;
  return text.replace(beginnings[found.field], (begun) => begun + marked('', origin));
}

/**
 * A block of a request as the upstream sent it; undefined for thinking that another upstream, or the router, has signed. The same
 * object if it has no mark.
 */
export function withoutMark(block: MessagesBlock, origin: string | undefined): MessagesBlock | undefined {
  const part = signedPart(block);
  if (!part) return block;
  const { field, signed } = part;
  if (isSyntheticSignature(signed)) return undefined;
  const own = unmarked(signed, origin);
  if (own === signed) return block;
  return own === undefined ? undefined : { ...block, [field]: own };
}
