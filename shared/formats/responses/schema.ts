import { z } from 'zod';
import { arrayOf, openUnion } from '../validation/loose-schema.ts';

const text = z.looseObject({ text: z.string() });
const name = z.string().min(1);

const part = openUnion('type', {
  input_text: text,
  output_text: text,
  text,
  refusal: z.looseObject({ refusal: z.string() }),
  input_image: z.looseObject({ image_url: z.string().nullish(), file_id: z.string().nullish() }),
  input_file: z.looseObject({
    file_data: z.string().nullish(),
    file_url: z.string().nullish(),
    file_id: z.string().nullish(),
    filename: z.string().nullish(),
  }),
});
const content = z.union([z.string(), arrayOf(part)]);

const functionTool = z.looseObject({
  name,
  description: z.string().nullish(),
  parameters: z.looseObject({}).nullish(),
  strict: z.boolean().nullish(),
});
const customTool = z.looseObject({
  name,
  description: z.string().nullish(),
  format: z.looseObject({}).nullish(),
});
const memberTool = openUnion('type', { function: functionTool, custom: customTool });
const tool = openUnion('type', {
  function: functionTool,
  custom: customTool,
  namespace: z.looseObject({ name, tools: arrayOf(memberTool).nullish() }),
  tool_search: z.looseObject({ description: z.string().nullish(), parameters: z.looseObject({}).nullish() }),
});
const moreTools = z.looseObject({ tools: arrayOf(tool).nullish() });

const callFields = { call_id: name, name, namespace: z.string().nullish() };
const output = z.looseObject({ call_id: name, output: content });
const outputWithoutCall = z.looseObject({ call_id: z.null().optional(), name, output: content });

// An object without a type is a message.
const item = openUnion(
  'type',
  {
    message: z.looseObject({ role: z.enum(['user', 'assistant', 'system', 'developer']), content }),
    function_call: z.looseObject({ ...callFields, arguments: z.string() }),
    function_call_output: z.union([output, outputWithoutCall]),
    custom_tool_call: z.looseObject({ ...callFields, input: z.string() }),
    custom_tool_call_output: output,
    reasoning: z.looseObject({
      summary: arrayOf(text).nullish(),
      content: arrayOf(text).nullish(),
      encrypted_content: z.string().nullish(),
    }),
    additional_tools: moreTools,
    tool_search_output: moreTools,
    item_reference: z.looseObject({ id: name }),
  },
  'message',
);

const toolChoice = openUnion('type', {
  function: z.looseObject({ name }),
  custom: z.looseObject({ name }),
  allowed_tools: z.looseObject({ mode: z.enum(['auto', 'required']), tools: arrayOf(z.looseObject({ type: name })) }),
});

const textFormat = openUnion('type', {
  json_schema: z.looseObject({ name, schema: z.looseObject({}).nullish() }),
});

/**
 * The fields of a Responses request that the router reads (OpenAI API reference, "Create a model response"). All other fields pass
 * unchecked. Optional fields may be null, as in OpenAI's API.
 */
export const responsesRequestSchema = z.looseObject({
  model: name,
  input: z.union([z.string(), arrayOf(item)]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  background: z.boolean().nullish(),
  background_options: z.looseObject({ completion_window: z.string().nullish() }).nullish(),
  previous_response_id: z.string().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().nullish(),
  tools: arrayOf(tool).nullish(),
  tool_choice: z.union([z.enum(['auto', 'none', 'required']), toolChoice]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish(), summary: z.string().nullish() }).nullish(),
  text: z.looseObject({ format: textFormat.nullish(), verbosity: z.string().nullish() }).nullish(),
  include: arrayOf(z.string()).nullish(),
  metadata: z.looseObject({}).nullish(),
  prompt_cache_key: z.string().nullish(),
  service_tier: z.string().nullish(),
});
