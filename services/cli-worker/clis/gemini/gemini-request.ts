import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type {
  ResponsesFunctionCall,
  ResponsesFunctionTool,
  ResponsesItem,
  ResponsesPart,
} from '#shared/formats/responses/request.ts';
import { createDistinctToolName } from '#shared/translate/responses/flatten-tools.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import { parseToolInput } from '#shared/translate/vocabulary/tool-call.ts';
import type { AnswerLimits } from '../../answer/answer-limit.ts';
import { isSystemMessage, readItemsRequest, joinSystemTexts, type ClientWords } from '../items-request.ts';
import type { ListedTool } from '../tool-list-server.ts';

/** Name of the MCP server that lists the client's tools. */
export const serverName = 'client';
/** Prefix that Gemini CLI puts before the names of these tools. */
export const toolPrefix = `mcp_${serverName}_`;

/** A turn of a conversation, with its parts as in Google's API (`Content`). */
export interface GeminiTurn {
  role: 'user' | 'model';
  parts: JsonObject[];
}

export interface GeminiRequest extends AnswerLimits {
  model: string;
  /** All system text, joined; empty if there is none. */
  system: string;
  turns: GeminiTurn[];
  tools: ListedTool[];
  /** The client's names of tools, by the names that the model sees. */
  toolNames: ReadonlyMap<string, string>;
  /** Whether one answer may have several calls. */
  parallelCalls: boolean;
}

/**
 * Converts a chat request into a request to Gemini CLI.
 * @throws RouterError as `readItemsRequest` does
 */
export function readGeminiRequest(body: JsonObject, traits: ModelTraits, words: ClientWords): GeminiRequest {
  const { model, items, tools, parallelCalls, maxTokens, stop } = readItemsRequest(body, traits, words);
  return {
    model,
    system: joinSystemTexts(items.filter(isSystemMessage)),
    turns: toTurns(items.filter((item) => !isSystemMessage(item))),
    tools: tools.map(toListedTool),
    toolNames: new Map(tools.map(({ name }) => [toolPrefix + toListedName(name), name])),
    parallelCalls,
    maxTokens,
    stop,
  };
}

/** Maximum number of characters of a tool's name, without the prefix. Gemini CLI shortens longer names. */
const maxNameLength = 63 - toolPrefix.length;

/** Returns the name under which a tool is listed for Gemini CLI: the client's name, or a replacement that is the same in every request. */
function toListedName(name: string): string {
  if (/^[A-Za-z][\w-]*$/.test(name) && name.length <= maxNameLength) return name;
  return createDistinctToolName(
    `client_${name.replaceAll(/[^\w-]/g, '_')}`.slice(0, maxNameLength - 9),
    name,
    undefined,
  );
}

function toListedTool({ name, description, parameters }: ResponsesFunctionTool): ListedTool {
  const schema = isJsonObject(parameters) ? parameters : { properties: {} };
  return { name: toListedName(name), description: description ?? '', inputSchema: { ...schema, type: 'object' } };
}

/** Joins consecutive items of the same role into one turn. */
function toTurns(items: readonly JsonObject[]): GeminiTurn[] {
  const names = new Map<string, string>();
  const turns: GeminiTurn[] = [];
  for (const item of items as ResponsesItem[]) {
    const { role, parts } = toTurn(item, names);
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts });
  }
  return turns;
}

/** @param names names of the tools called so far, by the ids of the calls */
function toTurn(item: ResponsesItem, names: Map<string, string>): GeminiTurn {
  switch (item.type) {
    case 'function_call': {
      const { call_id: id, name: clientName, arguments: json } = item as ResponsesFunctionCall;
      const name = toolPrefix + toListedName(clientName);
      names.set(id, name);
      return { role: 'model', parts: [{ functionCall: { id, name, args: parseToolInput(json) } }] };
    }
    case 'function_call_output': {
      const { call_id: id, output } = item as { call_id: string; output: string | JsonObject[] };
      const parts = typeof output === 'string' ? [{ text: output }] : output.map(toPart);
      const text = parts.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])).join('\n');
      const response = { id, name: names.get(id) ?? `${toolPrefix}unknown`, response: { output: text } };
      return { role: 'user', parts: [{ functionResponse: response }, ...parts.filter((part) => !('text' in part))] };
    }
    default: {
      const { role, content } = item as JsonObject;
      return { role: role === 'assistant' ? 'model' : 'user', parts: (content as JsonObject[]).map(toPart) };
    }
  }
}

function toPart(part: JsonObject): JsonObject {
  const { type, text, image_url: image, file_data: file } = part as ResponsesPart & JsonObject;
  if (type === 'input_image') return toInlineData(image);
  return type === 'input_file' ? toInlineData(file) : { text: text ?? '' };
}

/** @param url `data:` URL in base64 */
function toInlineData(url: Json | undefined): JsonObject {
  const [, mimeType = '', data = ''] = /^data:([^;,]*)[^,]*,(.*)$/s.exec(typeof url === 'string' ? url : '') ?? [];
  return { inlineData: { mimeType, data } };
}
