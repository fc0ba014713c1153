import { z } from 'zod';
import { arrayOf, openUnion } from '../validation/loose-schema.ts';

const text = z.looseObject({ text: z.string() });

const source = openUnion('type', {
  base64: z.looseObject({ media_type: z.string(), data: z.string() }),
  url: z.looseObject({ url: z.string() }),
  text: z.looseObject({ data: z.string() }),
  file: z.looseObject({ file_id: z.string() }),
});
const image = z.looseObject({ source });
const document = z.looseObject({ source, title: z.string().nullish() });

const toolReference = z.looseObject({ tool_name: z.string().min(1) });
const resultBlock = openUnion('type', { text, image, document, tool_reference: toolReference });
const toolResult = z.looseObject({
  tool_use_id: z.string().min(1),
  content: z.union([z.string(), arrayOf(resultBlock)]).nullish(),
  is_error: z.boolean().nullish(),
});

const toolChange = z.looseObject({ tool: z.looseObject({ type: z.string() }) });
const hostedResult = z.looseObject({ tool_use_id: z.string().min(1), content: z.unknown() });

const block = openUnion('type', {
  text,
  image,
  document,
  thinking: z.looseObject({ thinking: z.string(), signature: z.string() }),
  redacted_thinking: z.looseObject({ data: z.string() }),
  tool_use: z.looseObject({ id: z.string().min(1), name: z.string().min(1), input: z.looseObject({}) }),
  tool_result: toolResult,
  tool_addition: toolChange,
  tool_removal: toolChange,
  server_tool_use: z.looseObject({ id: z.string().min(1), name: z.string().min(1), input: z.looseObject({}) }),
  web_search_tool_result: hostedResult,
  web_fetch_tool_result: hostedResult,
});

const message = z.looseObject({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string(), arrayOf(block)]),
});

const customTool = z.looseObject({
  name: z.string().min(1),
  description: z.string().nullish(),
  input_schema: z.looseObject({}).optional(),
  strict: z.boolean().nullish(),
});

const parallel = { disable_parallel_tool_use: z.boolean().nullish() };
const toolChoice = z.discriminatedUnion('type', [
  z.looseObject({ type: z.enum(['auto', 'any', 'none']), ...parallel }),
  z.looseObject({ type: z.literal('tool'), name: z.string().min(1), ...parallel }),
]);

const thinking = z.discriminatedUnion('type', [
  z.looseObject({ type: z.enum(['adaptive', 'between_tools', 'disabled']) }),
  z.looseObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1024) }),
]);
const effort = z.enum(['low', 'medium', 'high', 'xhigh', 'max']);

const format = z.looseObject({ type: z.string(), schema: z.looseObject({}).optional() }).nullish();

/**
 * The fields of a token count request that the router reads (Anthropic API reference, "Count tokens in a Message"). All other fields pass
 * unchecked. Optional fields may be null.
 */
export const countTokensRequestSchema = z.looseObject({
  model: z.string().min(1),
  messages: arrayOf(message).min(1).max(100_000),
  system: z.union([z.string(), arrayOf(z.looseObject({ type: z.literal('text'), text: z.string() }))]).nullish(),
  tools: arrayOf(openUnion('type', { custom: customTool }, 'custom')).nullish(),
  tool_choice: toolChoice.nullish(),
  thinking: thinking.nullish(),
  output_config: z.looseObject({ effort: effort.nullish(), format }).nullish(),
  output_format: format,
});

/** The fields of a `messages` request that the router reads (Anthropic API reference, "Create a Message"). */
export const messagesRequestSchema = countTokensRequestSchema.extend({
  // A request with 0 loads the prompt into the cache and generates nothing.
  max_tokens: z.int().min(0),
  stream: z.boolean().nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().nullish(),
  top_k: z.int().nullish(),
  stop_sequences: arrayOf(z.string()).nullish(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
});
