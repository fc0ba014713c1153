import type { Json, JsonObject } from '#shared/core/json.ts';
import type { TextBlock } from '#shared/formats/messages/request.ts';
import type { ModelTraits } from '../../translation.ts';
import { computePseudonym } from '../../request-fields.ts';
import type { ThinkingRequest } from '../../vocabulary/thinking.ts';
import { fitThinking } from './fit-thinking.ts';

/** The generation settings of a request in another format. Absent values and values of another type have no effect. */
export interface GenerationSettings {
  maxTokens: number | null | undefined;
  thinking: ThinkingRequest | undefined;
  temperature?: Json | undefined;
  topP?: Json | undefined;
  topK?: Json | undefined;
  stop?: string | string[] | null | undefined;
  schema?: JsonObject | undefined;
  user?: Json | undefined;
}

/**
 * Creates the fields of a `messages` request for the output limit, thinking, sampling, stop sequences, format and user. The `messages`
 * format allows no sampling parameters with thinking, and no thinking with a forced tool.
 * @param tools the fields of the `messages` request for tools and tool choice
 */
export function createGenerationFields(
  requested: GenerationSettings,
  tools: JsonObject,
  traits: ModelTraits,
): JsonObject {
  const { temperature, topP, topK, stop, schema, user } = requested;
  const { thinking, maxTokens } = fitThinking(
    findAllowedThinking(requested.thinking, tools),
    requested.maxTokens,
    traits,
  );
  const isThinking = thinking !== undefined && thinking.thinking.type !== 'disabled';
  const outputConfig = {
    ...(isThinking && thinking.effort !== undefined && { effort: thinking.effort }),
    ...(schema !== undefined && { format: { type: 'json_schema', schema } }),
  };
  return {
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(thinking && { thinking: thinking.thinking }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...(typeof temperature === 'number' && !isThinking && { temperature: Math.min(1, temperature) }),
    ...(typeof topP === 'number' && !isThinking && { top_p: topP }),
    ...(typeof topK === 'number' && topK >= 0 && !isThinking && { top_k: topK }),
    ...(stop !== undefined && stop !== null && { stop_sequences: typeof stop === 'string' ? [stop] : stop }),
    ...(typeof user === 'string' && user !== '' && { metadata: { user_id: computePseudonym(user) } }),
  };
}

function findAllowedThinking(
  thinking: ThinkingRequest | undefined,
  { tool_choice: choice }: JsonObject,
): GenerationSettings['thinking'] {
  const isToolForced = choice !== undefined && ['any', 'tool'].includes((choice as { type: string }).type);
  return thinking && isToolForced ? { thinking: { type: 'disabled' } } : thinking;
}

/** The instruction that replaces the response format `json_object`, because in the `messages` format every response format has a schema. */
export const jsonInstruction: TextBlock = {
  type: 'text',
  text: 'Answer with one valid JSON object and nothing else: no explanation, no code fence.',
};
