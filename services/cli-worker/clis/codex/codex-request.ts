import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ChatRequest } from '#shared/formats/chat/request.ts';
import type {
  ResponsesFunctionCall,
  ResponsesFunctionTool,
  ResponsesItem,
  ResponsesMessage,
  ResponsesPart,
} from '#shared/formats/responses/request.ts';
import { chatToResponses } from '#shared/translate/chat-responses/chat-to-responses.ts';
import { effortOf } from '#shared/translate/conversation/effort-of.ts';
import type { Target } from '#shared/translate/translation.ts';
import type { RejectedCapability } from '#shared/formats/rejected-capability.ts';
import type { AnswerLimits } from '../../answer/limit-answer.ts';
import { codexTool, type CodexTool } from './codex-tool.ts';
import { codexToolName } from './codex-tool-name.ts';

/** A request to Codex. */
export interface CodexRequest extends AnswerLimits {
  model: string;
  /** The system text before the first turn, joined; empty if there is none. */
  instructions: string;
  /** The conversation, as items of the Responses format. */
  items: JsonObject[];
  effort: string | undefined;
  /** The JSON schema that the answer has; undefined for any text. */
  schema: JsonObject | undefined;
  tools: CodexTool[];
  /** The client's name of each tool, by Codex's. */
  toolNames: ReadonlyMap<string, string>;
  /** Whether one answer may have several calls. */
  parallelCalls: boolean;
}

/** The client's words for errors: names of fields, and the error for one that Codex cannot serve. */
export interface ClientWords {
  turns: string;
  format: string;
  strict: string;
  unsupported: (param: string, what: string, rejected?: RejectedCapability) => RouterError;
}

/**
 * Reads what Codex is asked from a chat request. Sampling is ignored: Codex does not pass it on.
 * @throws RouterError `unsupported_parameter` with the field that Codex cannot serve
 */
export function readCodexRequest(body: JsonObject, target: Target, words: ClientWords): CodexRequest {
  const request = body as ChatRequest;
  const { stop, max_completion_tokens: completion, max_tokens: older } = request;
  // The worker ends the answer at stop texts.
  const { input, text, tool_choice: choice, ...rest } = chatToResponses.request({ ...body, stop: null }, target);
  const offered = choice === 'none' ? [] : ((rest['tools'] ?? []) as ResponsesFunctionTool[]);
  if (offered.length > 0 && target.takesTools !== true) throw words.unsupported('tools', 'tools of the client');
  if (offered.length > 0 && choice !== undefined && choice !== 'auto') {
    throw words.unsupported('tool_choice', 'a choice of tools other than `auto` and `none`');
  }
  const { instructions, items } = itemsOf(input as ResponsesItem[], target, words);
  return {
    model: target.model,
    instructions,
    items,
    effort: effortOf(request),
    schema: schemaOf(isJsonObject(text) ? text['format'] : undefined, target, words),
    tools: offered.map(codexTool),
    toolNames: new Map(offered.map(({ name }) => [codexToolName(name), name])),
    parallelCalls: request.parallel_tool_calls !== false,
    maxTokens: completion ?? older ?? undefined,
    stop: (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((each) => each !== ''),
  };
}

/** Codex asks its upstream to keep to the schema strictly, and knows no other format. */
function schemaOf(
  format: Json | undefined,
  { takesSchemas }: Target,
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

function itemsOf(
  input: readonly ResponsesItem[],
  target: Target,
  words: ClientWords,
): { instructions: string; items: JsonObject[] } {
  const { turns, unsupported } = words;
  const items = input.map((item) => itemOf(item, target, words)).filter((item) => item !== undefined);
  const first = items.findIndex((item) => !isSystem(item));
  const last = items.at(-1);
  if (first === -1) {
    throw new RouterError('invalid_request', `Invalid value for '${turns}': no message of the user has text.`, {
      param: turns,
    });
  }
  if (last?.['role'] === 'assistant') throw unsupported(turns, 'an answer that the client has begun');
  return {
    instructions: items
      .slice(0, first)
      .flatMap(({ content }) => (content as { text: string }[]).map(({ text }) => text))
      .join('\n\n'),
    items: items.slice(first),
  };
}

function isSystem({ role }: JsonObject): boolean {
  return role === 'system' || role === 'developer';
}

/** The item as Codex takes it; undefined for a message without content. */
function itemOf(item: ResponsesItem, target: Target, words: ClientWords): JsonObject | undefined {
  switch (item.type) {
    case 'function_call':
      return { ...item, name: codexToolName((item as ResponsesFunctionCall).name) };
    case 'function_call_output': {
      const { output } = item as { output: string | ResponsesPart[] };
      return { ...item, output: typeof output === 'string' ? output : partsOf(output, 'input_text', target, words) };
    }
    default: {
      const { role, content } = item as ResponsesMessage;
      const type = role === 'assistant' ? 'output_text' : 'input_text';
      const parts = partsOf(typeof content === 'string' ? [{ type, text: content }] : content, type, target, words);
      return parts.length === 0 ? undefined : { type: 'message', role, content: parts };
    }
  }
}

function partsOf(
  parts: readonly ResponsesPart[],
  type: 'input_text' | 'output_text',
  { takesImages }: Target,
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
      case 'input_file':
        throw unsupported(turns, 'documents', 'document_block');
      case 'refusal':
        return [{ type, text: part.refusal }];
      default:
        return part.text === '' ? [] : [{ type, text: part.text }];
    }
  });
}
