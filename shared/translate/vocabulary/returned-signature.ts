import type { AnswerContext, ModelTraits } from '../translation.ts';
import { readReturned, type ReturnedReasoning } from '../upstreams/chat/returned-reasoning.ts';
import { parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';
import { ownSignature } from './thinking.ts';

/** Start of a signature, or of the data of a redacted block, that carries reasoning which a chat upstream wants back. */
const returning = `${ownSignature}returned.`;

/** @param omitted text of thinking that the block omits */
export function writeReturnedSignature(
  returned: ReturnedReasoning,
  { origin, model }: Pick<AnswerContext, 'origin' | 'model'>,
  omitted: string | undefined,
): string {
  const fields = [origin ?? null, model, omitted ?? null, returned];
  return `${returning}${Buffer.from(JSON.stringify(fields)).toString('base64url')}`;
}

/**
 * Reads a signature, or the data of a redacted block.
 * @returns undefined for any other signature; `returned` only if it came from the same upstream, account and model
 */
export function readReturnedSignature(
  signature: unknown,
  traits: Pick<ModelTraits, 'origin' | 'model'>,
): { omitted: string | undefined; returned: ReturnedReasoning | undefined } | undefined {
  if (typeof signature !== 'string' || !signature.startsWith(returning)) return undefined;
  const value = parseUpstreamJson(Buffer.from(signature.slice(returning.length), 'base64url').toString());
  const [origin, model, omitted, returned] = Array.isArray(value) ? value : [];
  const isOfTarget = typeof origin === 'string' && origin === traits.origin && model === traits.model;
  return {
    omitted: typeof omitted === 'string' ? omitted : undefined,
    returned: isOfTarget ? readReturned(returned) : undefined,
  };
}
