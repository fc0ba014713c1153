import { z } from 'zod';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { RouterError } from '#shared/core/errors.ts';
import { parseBody } from './read-body.ts';

/** Checks only the form of the URL, because the demo engine never fetches an image. */
const imageUrl = z.string().regex(/^(?:https?:\/\/|data:image\/[\w.+-]+;base64,)/, {
  error: 'an image has to be an http(s) URL or a data URL, as data:image/png;base64,…',
});

const part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: imageUrl }) }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
]);

const message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(part)]).nullish(),
  name: z.string().nullish(),
  tool_calls: z
    .array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) }))
    .nullish(),
  tool_call_id: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
});

const jsonSchema = z.custom<JsonObject>(isJsonObject, 'a JSON schema has to be an object');

const tool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: z.string().min(1),
    description: z.string().nullish(),
    parameters: jsonSchema.nullish(),
  }),
});

/** The body of `/tokenize`: a chat, or plain text. */
export const tokenizeRequestSchema = z.looseObject({
  prompt: z.string().nullish(),
  messages: z.array(message).min(1).nullish(),
  tools: z.array(tool).nullish(),
});

/** The fields of a chat completion request that the demo engine reads. It ignores other fields. */
export const chatRequestSchema = z.looseObject({
  model: z.string(),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().min(1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: z
    .discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text') }),
      z.looseObject({ type: z.literal('json_object') }),
      z.looseObject({ type: z.literal('json_schema'), json_schema: z.looseObject({ schema: jsonSchema.nullish() }) }),
    ])
    .nullish(),
  reasoning_effort: z.string().nullish(),
  thinking: z.looseObject({ type: z.string() }).nullish(),
  chat_template_kwargs: z
    .looseObject({ enable_thinking: z.boolean().nullish(), thinking: z.boolean().nullish() })
    .nullish(),
  continue_final_message: z.boolean().nullish(),
  /** Checked by `resolveDemoOptions`. */
  demo: z.unknown().optional(),
});

export type ChatRequest = z.output<typeof chatRequestSchema>;
export type ChatMessage = ChatRequest['messages'][number];
export type ChatTool = NonNullable<ChatRequest['tools']>[number];

export function findImages({ content }: Pick<ChatMessage, 'content'>): string[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : []));
}

/** Returns the text of a message. Joins its text parts with line feeds. */
export function readText({ content }: Pick<ChatMessage, 'content'>): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/**
 * Reads and checks a chat completion request.
 * @throws RouterError `invalid_request`, `missing_parameter`, `unsupported_parameter`
 */
export function readChatRequest(body: JsonObject): ChatRequest {
  const request = parseBody(chatRequestSchema, body);
  if ((request.n ?? 1) > 1) {
    throw new RouterError('unsupported_parameter', 'This engine gives one choice: n has to be 1.', { param: 'n' });
  }
  const { tool_choice: choice } = request;
  const names = (request.tools ?? []).map((tool) => tool.function.name);
  if (choice === 'required' && names.length === 0) {
    throw new RouterError('invalid_request', 'tool_choice is "required", but no tools are offered.', {
      param: 'tool_choice',
    });
  }
  if (typeof choice === 'object' && choice !== null && !names.includes(choice.function.name)) {
    throw new RouterError('invalid_request', `tool_choice names "${choice.function.name}", which is not offered.`, {
      param: 'tool_choice',
    });
  }
  return request;
}
