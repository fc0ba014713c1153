import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ChatRequest } from '#shared/formats/chat/request.ts';
import type { RejectedCapability } from '#shared/formats/rejected-capability.ts';
import type {
  ResponsesFunctionTool,
  ResponsesItem,
  ResponsesMessage,
  ResponsesPart,
} from '#shared/formats/responses/request.ts';
import { chatToResponses } from '#shared/translate/chat-responses/chat-to-responses.ts';
import { computeEffort } from '#shared/translate/conversation/conversation.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import type { AnswerLimits } from '../answer/answer-limit.ts';

export interface ItemsRequest extends AnswerLimits {
  model: string;
  /** The conversation, as items of the Responses format. Messages without content are left out. */
  items: JsonObject[];
  effort: string | undefined;
  /** JSON schema that the answer must match; undefined if the answer may be any text. */
  schema: JsonObject | undefined;
  /** The client's tools; empty if the client forbids calls. */
  tools: ResponsesFunctionTool[];
  parallelCalls: boolean;
}

/** Names of fields in the client's format, and that format's error for a field that the CLI cannot serve. */
export interface ClientWords {
  turns: string;
  format: string;
  strict: string;
  unsupported: (param: string, feature: string, rejected?: RejectedCapability) => RouterError;
}

/**
 * Converts a chat request into a request to a CLI. Ignores the sampling parameters, because no CLI of this kind forwards them.
 * @throws RouterError `unsupported_parameter` that names the field that the CLI cannot serve
 */
export function readItemsRequest(body: JsonObject, traits: ModelTraits, words: ClientWords): ItemsRequest {
  const request = body as ChatRequest;
  const { stop, max_completion_tokens: maxCompletionTokens, max_tokens: maxTokens } = request;
  // The worker itself ends the answer at stop texts.
  const {
    input,
    text,
    tool_choice: toolChoice,
    ...rest
  } = chatToResponses.translateRequest({ ...body, stop: null }, traits);
  const tools = toolChoice === 'none' ? [] : ((rest['tools'] ?? []) as ResponsesFunctionTool[]);
  if (tools.length > 0 && traits.takesTools !== true) throw words.unsupported('tools', 'tools of the client');
  if (tools.length > 0 && toolChoice !== undefined && toolChoice !== 'auto') {
    throw words.unsupported('tool_choice', 'a choice of tools other than `auto` and `none`');
  }
  return {
    model: traits.model,
    items: toItems(input as ResponsesItem[], traits, words),
    effort: computeEffort(request),
    schema: readSchema(isJsonObject(text) ? text['format'] : undefined, traits, words),
    tools,
    parallelCalls: request.parallel_tool_calls !== false,
    maxTokens: maxCompletionTokens ?? maxTokens ?? undefined,
    stop: (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((each) => each !== ''),
  };
}

/** Returns whether an item is a message of the operator, not of the user. */
export function isSystemMessage({ role }: JsonObject): boolean {
  return role === 'system' || role === 'developer';
}

export function joinSystemTexts(messages: readonly JsonObject[]): string {
  return messages.flatMap(({ content }) => (content as { text: string }[]).map(({ text }) => text)).join('\n\n');
}

/** Returns the JSON schema of the answer. CLIs request strict adherence to a schema, and support no other format. */
function readSchema(
  format: Json | undefined,
  { takesSchemas }: ModelTraits,
  { format: param, strict, unsupported }: ClientWords,
): JsonObject | undefined {
  if (!isJsonObject(format)) return undefined;
  if (takesSchemas !== true || format['type'] !== 'json_schema') {
    const type = (format as { type: string }).type;
    throw unsupported(param, `the format '${type}'`, 'structured_outputs_unsupported');
  }
  if (format['strict'] !== true) throw unsupported(strict, 'a schema that is not strict');
  return isJsonObject(format['schema']) ? format['schema'] : {};
}

function toItems(input: readonly ResponsesItem[], traits: ModelTraits, words: ClientWords): JsonObject[] {
  const { turns, unsupported } = words;
  const items = input.map((item) => toItem(item, traits, words)).filter((item) => item !== undefined);
  if (items.every(isSystemMessage)) {
    throw new RouterError('invalid_request', `Invalid value for '${turns}': no message of the user has text.`, {
      param: turns,
    });
  }
  if (items.at(-1)?.['role'] === 'assistant') throw unsupported(turns, 'an answer that the client has begun');
  return items;
}

/** Returns the item in the shape that CLIs read; undefined for a message without content. */
function toItem(item: ResponsesItem, traits: ModelTraits, words: ClientWords): JsonObject | undefined {
  switch (item.type) {
    case 'function_call':
      return item;
    case 'function_call_output': {
      const { output } = item as { output: string | ResponsesPart[] };
      return { ...item, output: typeof output === 'string' ? output : toParts(output, 'input_text', traits, words) };
    }
    default: {
      const { role, content } = item as ResponsesMessage;
      const type = role === 'assistant' ? 'output_text' : 'input_text';
      const parts = toParts(typeof content === 'string' ? [{ type, text: content }] : content, type, traits, words);
      return parts.length === 0 ? undefined : { type: 'message', role, content: parts };
    }
  }
}

function toParts(
  parts: readonly ResponsesPart[],
  type: 'input_text' | 'output_text',
  { takesImages, takesFiles }: ModelTraits,
  { turns, unsupported }: ClientWords,
): JsonObject[] {
  return parts.flatMap((part): JsonObject[] => {
    switch (part.type) {
      case 'input_image': {
        const { image_url: url } = part;
        if (takesImages !== true) throw unsupported(turns, 'images', 'image_block');
        if (typeof url !== 'string' || !url.startsWith('data:'))
          throw unsupported(turns, 'images by their address', 'image_block');
        return [{ type: 'input_image', image_url: url }];
      }
      case 'input_file': {
        const { file_data: data } = part;
        if (takesFiles !== true) throw unsupported(turns, 'documents', 'document_block');
        if (typeof data !== 'string' || !data.startsWith('data:'))
          throw unsupported(turns, 'documents by their address', 'document_block');
        return [{ type: 'input_file', file_data: data }];
      }
      case 'refusal':
        return [{ type, text: part.refusal }];
      default:
        return part.text === '' ? [] : [{ type, text: part.text }];
    }
  });
}
