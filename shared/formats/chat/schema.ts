import { z } from 'zod';
import { arrayOf, openUnion } from '../validation/loose-schema.ts';
import { isPlainMessage, isPlainTool } from './plain-elements.ts';

const text = z.looseObject({ text: z.string() });
const imageUrl = z.looseObject({ image_url: z.looseObject({ url: z.string() }) });
const file = z.looseObject({ file: z.looseObject({}) });
const inputAudio = z.looseObject({ input_audio: z.looseObject({ data: z.string(), format: z.string() }) });
const refusal = z.looseObject({ refusal: z.string() });

const part = openUnion('type', { text, image_url: imageUrl, file, input_audio: inputAudio, refusal });
const content = z.union([z.string(), arrayOf(part)]);

const toolCall = openUnion('type', {
  function: z.looseObject({
    id: z.string().min(1),
    function: z.looseObject({ name: z.string().min(1), arguments: z.string() }),
  }),
  custom: z.looseObject({
    id: z.string().min(1),
    custom: z.looseObject({ name: z.string().min(1), input: z.string() }),
  }),
});

export const chatMessageSchema = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'developer', 'user']), content }),
  z.looseObject({
    role: z.literal('assistant'),
    content: content.nullish(),
    tool_calls: arrayOf(toolCall).nullish(),
  }),
  z.looseObject({ role: z.literal('tool'), tool_call_id: z.string(), content }),
]);

export const chatToolSchema = openUnion('type', {
  function: z.looseObject({
    function: z.looseObject({
      name: z.string().min(1),
      description: z.string().nullish(),
      parameters: z.looseObject({}).nullish(),
      strict: z.boolean().nullish(),
    }),
  }),
  custom: z.looseObject({
    custom: z.looseObject({
      name: z.string().min(1),
      description: z.string().nullish(),
      format: z.looseObject({}).nullish(),
    }),
  }),
});

const toolChoice = openUnion('type', {
  function: z.looseObject({ function: z.looseObject({ name: z.string().min(1) }) }),
  custom: z.looseObject({ custom: z.looseObject({ name: z.string().min(1) }) }),
});

// Engines have further types, such as grammars.
const responseFormat = openUnion('type', {
  json_schema: z.looseObject({ json_schema: z.looseObject({ schema: z.looseObject({}).nullish() }) }),
});

/**
 * The fields of a chat request that the router reads (OpenAI API reference, "Create chat completion"). All other fields pass unchecked.
 * Optional fields may be null, as in OpenAI's API.
 */
export const chatRequestSchema = z.looseObject({
  model: z.string().min(1),
  messages: arrayOf(chatMessageSchema, isPlainMessage).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({}).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  n: z.int().min(1).max(128).nullish(),
  stop: z.union([z.string(), arrayOf(z.string()).max(64)]).nullish(),
  tools: arrayOf(chatToolSchema, isPlainTool).nullish(),
  tool_choice: z.union([z.enum(['auto', 'none', 'required']), toolChoice]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning_effort: z.union([z.string(), z.number()]).nullish(),
  response_format: responseFormat.nullish(),
});
