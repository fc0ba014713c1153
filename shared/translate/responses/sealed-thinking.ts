import { type Json, type JsonObject, isJsonObject } from '#shared/core/json.ts';
import type { MessagesBlock } from '#shared/formats/messages/request.ts';
import type { ResponsesReasoning } from '#shared/formats/responses/request.ts';
import type { AnswerContext, ModelTraits } from '../translation.ts';
import { isOwnSignature } from '../vocabulary/thinking.ts';
import { parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';

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

/** The content of a reasoning item. */
export interface Reasoning {
  text: string;
  /** The state that the upstream needs to continue its thinking, such as a signature; undefined if it needs none. */
  sealed: JsonObject | undefined;
}

/** Returns the text to seal as a reasoning item's `encrypted_content`. */
export function writeReasoning({ text, sealed }: Reasoning): string {
  return JSON.stringify({ text, ...(sealed !== undefined && { sealed }) });
}

/**
 * Reads a reasoning item that a client sends back. The text is the sealed text; without it, the `content` of the item; without that, the
 * summary. Content that was sealed for another owner, or by another server, cannot be read.
 */
export function readReasoning(
  item: ResponsesReasoning,
  unseal: ((sealed: string) => string | undefined) | undefined,
): Reasoning {
  const opened = typeof item.encrypted_content === 'string' ? unseal?.(item.encrypted_content) : undefined;
  const content = opened === undefined ? undefined : parseUpstreamJson(opened);
  const { text, sealed } = isJsonObject(content) ? content : {};
  const visibleText = joinTexts(item.content) || joinTexts(item.summary);
  return {
    text: typeof text === 'string' ? text : visibleText,
    sealed: isJsonObject(sealed) ? sealed : undefined,
  };
}

function joinTexts(parts: readonly { text: string }[] | null | undefined): string {
  return (parts ?? []).map(({ text }) => text).join('\n\n');
}
