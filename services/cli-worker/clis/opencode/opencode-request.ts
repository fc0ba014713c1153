import type { JsonObject } from '#shared/core/json.ts';
import type { ChatRequest } from '#shared/formats/chat/request.ts';
import type { ResponsesFunctionCall, ResponsesFunctionTool } from '#shared/formats/responses/request.ts';
import { createDistinctToolName } from '#shared/translate/responses/flatten-tools.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import {
  isSystemMessage,
  readItemsRequest,
  joinSystemTexts,
  type ClientWords,
  type ItemsRequest,
} from '../items-request.ts';
import type { ListedTool } from '../tool-list-server.ts';
import type { ModelParameters } from './model-only-plugin.ts';

/** Name of the MCP server that lists the client's tools. */
export const serverName = 'client';
/** Prefix that opencode puts before the names of these tools. */
const toolPrefix = `${serverName}_`;

/** A request to opencode. Its items have opencode's names of tools, and no system text. */
export interface OpencodeRequest extends Omit<ItemsRequest, 'tools'> {
  /** All system text, joined; empty if there is none. */
  system: string;
  parameters: ModelParameters;
  tools: ListedTool[];
  /** The client's names of tools, by opencode's names. */
  toolNames: ReadonlyMap<string, string>;
}

/**
 * Converts a chat request into a request to opencode. The upstream applies the token limit; the worker ends the answer at stop texts.
 * @throws RouterError as `readItemsRequest` does
 */
export function readOpencodeRequest(body: JsonObject, traits: ModelTraits, words: ClientWords): OpencodeRequest {
  const { maxTokens, tools, ...request } = readItemsRequest(body, traits, words);
  const items = request.items.map((item) =>
    item['type'] === 'function_call'
      ? { ...item, name: toOpencodeToolName((item as ResponsesFunctionCall).name) }
      : item,
  );
  return {
    ...request,
    system: joinSystemTexts(items.filter(isSystemMessage)),
    items: assertCallsHaveResults(
      items.filter((item) => !isSystemMessage(item)),
      words,
    ),
    parameters: readParameters(body as ChatRequest, maxTokens),
    tools: tools.map(toListedTool),
    toolNames: new Map(tools.map(({ name }) => [toOpencodeToolName(name), name])),
  };
}

function readParameters(
  { temperature, top_p: topP, top_k: topK }: ChatRequest & { top_k?: unknown },
  maxOutputTokens: number | undefined,
): ModelParameters {
  return {
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof topP === 'number' && { topP }),
    ...(typeof topK === 'number' && { topK }),
  };
}

/**
 * Returns the items if each call has a result, which opencode needs because it stores a call together with its result.
 * @throws RouterError for a call without a result, or a result without a call
 */
function assertCallsHaveResults(items: JsonObject[], { turns, unsupported }: ClientWords): JsonObject[] {
  const findCallIds = (type: string): unknown[] =>
    items.flatMap((item) => (item['type'] === type ? [item['call_id']] : []));
  const [calls, results] = [new Set(findCallIds('function_call')), new Set(findCallIds('function_call_output'))];
  const isComplete = calls.size === results.size && [...calls].every((id) => results.has(id));
  if (!isComplete) throw unsupported(turns, 'a call of a tool without its result');
  return items;
}

/** Names of tools that opencode leaves unchanged and that, with the prefix, have a length that every upstream accepts. */
const unchangedName = /^[\w-]{1,57}$/;

/** Returns the name under which the model sees a client's tool. */
export function toOpencodeToolName(name: string): string {
  return toolPrefix + toListedName(name);
}

function toListedName(name: string): string {
  if (unchangedName.test(name)) return name;
  return createDistinctToolName(name.replaceAll(/[^\w-]/g, '_').slice(0, 48), name, undefined);
}

function toListedTool({ name, description, parameters }: ResponsesFunctionTool): ListedTool {
  return { name: toListedName(name), description: description ?? '', inputSchema: { ...parameters, type: 'object' } };
}
