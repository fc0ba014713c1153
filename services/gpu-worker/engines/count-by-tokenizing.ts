import { z } from 'zod';
import type { JsonObject } from '#shared/core/json.ts';
import { fit } from '#shared/upstream/upstream-http.ts';
import type { EngineHttp } from '../engine-http.ts';

/** What of a chat request decides how many tokens its input has. The page refuses or ignores the rest. */
const counted = [
  'model',
  'messages',
  'tools',
  'chat_template_kwargs',
  'add_generation_prompt',
  'continue_final_message',
] as const;

const tokenized = z.looseObject({ count: z.number().int().nonnegative() });

/**
 * Counts with `POST /tokenize`, which puts a chat request through the model's template and tokenizer (vLLM, SGLang).
 * @throws UpstreamAnswerError when the engine does not count it
 */
export async function countByTokenizing(http: EngineHttp, request: JsonObject, signal: AbortSignal): Promise<number> {
  const question = Object.fromEntries(counted.map((field) => [field, request[field]]));
  return fit('/tokenize', await http.post('/tokenize', JSON.stringify(question), signal), tokenized).count;
}
