import type { AnswerContext, ModelTraits } from '../translation.ts';
import { readReturnedReasoning, type ReturnedReasoning } from '../upstreams/chat/returned-reasoning.ts';
import { parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';
import { ownSignature } from './thinking.ts';

/** Start of the signatures, and of the data of redacted blocks, that contain reasoning for a chat upstream. */
const signatureStart = `${ownSignature}returned.`;

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
  return `${signatureStart}${Buffer.from(JSON.stringify(fields)).toString('base64url')}`;
}

/**
 * Reads a result of `writeReturnedSignature`.
 * @returns undefined for any other text; `returned` is set only if it came from the same upstream, account and model
 */
export function readReturnedSignature(
  signature: unknown,
  traits: Pick<ModelTraits, 'origin' | 'model'>,
): { omitted: string | undefined; returned: ReturnedReasoning | undefined } | undefined {
  if (typeof signature !== 'string' || !signature.startsWith(signatureStart)) return undefined;
  const value = parseUpstreamJson(Buffer.from(signature.slice(signatureStart.length), 'base64url').toString());
  const [origin, model, omitted, returned] = Array.isArray(value) ? value : [];
  const isFromSameModel = typeof origin === 'string' && origin === traits.origin && model === traits.model;
  return {
    omitted: typeof omitted === 'string' ? omitted : undefined,
    returned: isFromSameModel ? readReturnedReasoning(returned) : undefined,
  };
}
