import { z } from 'zod';

const text = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.unknown()),
  logprobs: z.array(z.unknown()).optional(),
});

const ended = z.enum(['completed', 'incomplete']);

const item = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('message'),
    id: z.string().min(1),
    status: ended,
    role: z.literal('assistant'),
    content: z.array(text),
  }),
  z.looseObject({
    type: z.literal('function_call'),
    id: z.string().min(1),
    call_id: z.string().min(1),
    name: z.string(),
    arguments: z.string(),
    status: ended,
  }),
  z.looseObject({ type: z.literal('reasoning'), id: z.string().min(1), summary: z.array(z.unknown()) }),
]);

/** A finished response in the public Open Responses schema: every field is present, null without a value. */
export const finishedResponse = z.looseObject({
  id: z.string().startsWith('resp_'),
  object: z.literal('response'),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: ended,
  incomplete_details: z.looseObject({ reason: z.string() }).nullable(),
  model: z.string(),
  previous_response_id: z.string().nullable(),
  instructions: z.string().nullable(),
  output: z.array(item).min(1),
  error: z.null(),
  tools: z.array(
    z.looseObject({
      type: z.literal('function'),
      name: z.string(),
      description: z.string().nullable(),
      parameters: z.looseObject({}).nullable(),
      strict: z.boolean().nullable(),
    }),
  ),
  tool_choice: z.union([z.enum(['auto', 'none', 'required']), z.looseObject({ type: z.string() })]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.looseObject({ format: z.looseObject({ type: z.string() }) }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: z.looseObject({ effort: z.string().nullable(), summary: z.string().nullable() }).nullable(),
  usage: z.looseObject({
    input_tokens: z.int().positive(),
    output_tokens: z.int(),
    total_tokens: z.int().positive(),
    input_tokens_details: z.looseObject({ cached_tokens: z.int() }),
    output_tokens_details: z.looseObject({ reasoning_tokens: z.int() }),
  }),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.string()),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
});
