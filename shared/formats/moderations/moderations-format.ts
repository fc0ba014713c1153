import { z } from 'zod';
import type { JsonObject } from '#shared/core/json.ts';
import type { Needs } from '../client-format.ts';
import { estimateTokens, imageTokens } from '../estimate-tokens.ts';
import { arrayOf, openUnion } from '../validation/loose-schema.ts';
import { createEventlessFormat } from '../openai/openai-format.ts';

/** An input to judge. Inputs of unknown types reach the upstream unchanged. */
export type ModerationsPart = JsonObject & { type: string; text?: string };

const part = openUnion('type', {
  text: z.looseObject({ text: z.string() }),
  image_url: z.looseObject({ image_url: z.looseObject({ url: z.string() }) }),
});

type ModerationsRequest = JsonObject & {
  model?: string | null;
  input: string | string[] | ModerationsPart[];
};

/** The fields of a moderation request that the router reads (OpenAI API reference, "Create moderation"). */
const schema = z.looseObject({
  model: z.string().min(1).nullish(),
  input: z.union([z.string().min(1), arrayOf(z.union([z.string().min(1), part])).min(1)]),
});

/** OpenAI's moderations format: the model judges texts and images by categories of harm. */
export const moderationsFormat = createEventlessFormat<ModerationsRequest>({
  name: 'moderations',
  routes: [{ path: '/moderations', operation: 'moderate' }],
  answerIdPrefix: 'modr-',
  schema,
  estimateInput: estimateJudgedInputs,
});

function estimateJudgedInputs({ input }: ModerationsRequest): Pick<Needs, 'inputTokens' | 'longestInput'> {
  const inputs = typeof input === 'string' ? [input] : input;
  let inputTokens = 0;
  let longestText = 0;
  for (const part of inputs) {
    const tokens = typeof part === 'string' ? estimateTokens(part) : estimatePartTokens(part);
    inputTokens += tokens;
    longestText = Math.max(longestText, tokens);
  }
  // Texts are judged one by one, the parts of one input together.
  const longestInput = inputs.every((part) => typeof part === 'string') ? longestText : inputTokens;
  return { inputTokens, longestInput };
}

function estimatePartTokens({ type, text }: { type: string; text?: string }): number {
  return type === 'text' ? estimateTokens(text ?? '') : imageTokens;
}
