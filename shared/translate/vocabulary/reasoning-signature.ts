import type { JsonObject } from '#shared/core/json.ts';
import type { AnswerContext, ModelTraits } from '../translation.ts';
import { parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';
import { ownSignature } from './thinking.ts';
import { readReturnedReasoning, type ReturnedReasoning } from '../upstreams/chat/returned-reasoning.ts';

/** Start of a signature that carries the thinking of a Responses upstream. */
const signatureStart = `${ownSignature}reasoning.`;

/** Thinking that only the upstream that encrypted it can read. */
export interface EncryptedThinking {
  model: string;
  /** The reasoning item's id. The upstream compares it with the id in the encrypted content. Undefined if the item has no id. */
  id: string | undefined;
  encrypted: string;
  origin: string | undefined;
}

/** Writes encrypted thinking as a signature. A `messages` client sends the signature back. */
export function writeReasoningSignature({ model, id, encrypted, origin }: EncryptedThinking): string {
  const fields = [model, id ?? null, encrypted, origin ?? null];
  return `${signatureStart}${Buffer.from(JSON.stringify(fields)).toString('base64url')}`;
}

/** Reads the encrypted thinking in a signature; undefined for any other signature. */
export function readReasoningSignature(signature: unknown): EncryptedThinking | undefined {
  if (typeof signature !== 'string' || !signature.startsWith(signatureStart)) return undefined;
  const value = parseUpstreamJson(Buffer.from(signature.slice(signatureStart.length), 'base64url').toString());
  if (!Array.isArray(value)) return undefined;
  const [model, id, encrypted, origin] = value;
  if (typeof model !== 'string' || typeof encrypted !== 'string') return undefined;
  return { model, id: toText(id), encrypted, origin: toText(origin) };
}

/**
 * Returns the signature of the thinking block for a reasoning item. The signature contains the encrypted thinking, so that the client's
 * next request sends it back. Undefined if the item has no encrypted thinking.
 */
export function toReasoningSignature(
  item: JsonObject,
  { model, origin }: Pick<AnswerContext, 'model' | 'origin'>,
): string | undefined {
  const { id, encrypted_content: encrypted } = item;
  if (typeof encrypted !== 'string' || encrypted === '') return undefined;
  return writeReasoningSignature({ model, id: toText(id), encrypted, origin });
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Start of the signatures, and of the data of redacted blocks, that contain reasoning for a chat upstream. */
const returnedStart = `${ownSignature}returned.`;

/**
 * Writes reasoning that a chat upstream wants back as the signature of a thinking block, or as the data of a redacted block.
 * @param omitted the thinking text, if the block omits it
 */
export function writeReturnedSignature(
  returned: ReturnedReasoning,
  { origin, model }: Pick<AnswerContext, 'origin' | 'model'>,
  omitted: string | undefined,
): string {
  const fields = [origin ?? null, model, omitted ?? null, returned];
  return `${returnedStart}${Buffer.from(JSON.stringify(fields)).toString('base64url')}`;
}

/**
 * Reads a result of `writeReturnedSignature`.
 * @returns undefined for any other text; `returned` is set only if it came from the same upstream, account and model
 */
export function readReturnedSignature(
  signature: unknown,
  traits: Pick<ModelTraits, 'origin' | 'model'>,
): { omitted: string | undefined; returned: ReturnedReasoning | undefined } | undefined {
  if (typeof signature !== 'string' || !signature.startsWith(returnedStart)) return undefined;
  const value = parseUpstreamJson(Buffer.from(signature.slice(returnedStart.length), 'base64url').toString());
  const [origin, model, omitted, returned] = Array.isArray(value) ? value : [];
  const isFromSameModel = typeof origin === 'string' && origin === traits.origin && model === traits.model;
  return {
    omitted: typeof omitted === 'string' ? omitted : undefined,
    returned: isFromSameModel ? readReturnedReasoning(returned) : undefined,
  };
}
