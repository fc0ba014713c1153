import type { Json, JsonObject } from '#shared/core/json.ts';
import type { MessagesBlock } from '#shared/formats/messages/request.ts';
import type { ResponsesReasoning } from '#shared/formats/responses/request.ts';
import { readReasoning } from './sealed-reasoning.ts';
import type { AnswerContext, ModelTraits } from '../translation.ts';
import { isOwnSignature } from '../vocabulary/thinking.ts';

/** A block of the `messages` format, or an object with some of its fields. */
type PossiblyThinking = Readonly<Record<string, Json | undefined>>;

/**
 * Returns the content of a thinking block that a reasoning item seals besides the text: the signature or the redacted data. Adds the model
 * and the origin, because upstreams refuse thinking of other upstreams and models. Returns undefined for a block without a signature,
 * because no upstream would accept such a block.
 */
export function findSealableFields(
  block: PossiblyThinking,
  { model, origin }: Pick<AnswerContext, 'model' | 'origin'>,
): JsonObject | undefined {
  const { type, signature, data } = block;
  const source = { model, ...(origin !== undefined && { origin }) };
  if (type === 'redacted_thinking') return typeof data === 'string' ? { ...source, data } : undefined;
  if (typeof signature !== 'string' || signature === '' || isOwnSignature(signature)) return undefined;
  return { ...source, signature };
}

/**
 * Restores the thinking block of the upstream from a reasoning item. Returns undefined for thinking that was not sealed for this owner,
 * that a client has changed, or that another upstream or model wrote.
 */
export function restoreThinkingBlock(
  item: ResponsesReasoning,
  { model, origin, unseal }: ModelTraits,
): MessagesBlock | undefined {
  const { text, sealed } = readReasoning(item, unseal);
  if (sealed?.['model'] !== model || sealed['origin'] !== origin) return undefined;
  const { signature, data } = sealed;
  if (typeof data === 'string') return { type: 'redacted_thinking', data };
  return typeof signature === 'string' ? { type: 'thinking', thinking: text, signature } : undefined;
}
