import type { JsonObject } from '#shared/core/json.ts';
import type { ResponsesFunctionCall } from '#shared/formats/responses/request.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import {
  isSystemMessage,
  readItemsRequest,
  joinSystemTexts,
  type ClientWords,
  type ItemsRequest,
} from '../items-request.ts';
import { toCodexTool, type CodexTool, toCodexToolName } from './codex-tool.ts';

export interface CodexRequest extends Omit<ItemsRequest, 'tools'> {
  /** The system messages before the first turn, joined; empty if there are none. Later system messages stay among the items. */
  instructions: string;
  tools: CodexTool[];
  /** The client's names of tools, by Codex's names. */
  toolNames: ReadonlyMap<string, string>;
}

/**
 * Converts a chat request into a request to Codex.
 * @throws RouterError as `readItemsRequest` does
 */
export function readCodexRequest(body: JsonObject, traits: ModelTraits, words: ClientWords): CodexRequest {
  const request = readItemsRequest(body, traits, words);
  const items = request.items.map((item) =>
    item['type'] === 'function_call' ? { ...item, name: toCodexToolName((item as ResponsesFunctionCall).name) } : item,
  );
  const firstTurn = items.findIndex((item) => !isSystemMessage(item));
  return {
    ...request,
    instructions: joinSystemTexts(items.slice(0, firstTurn)),
    items: items.slice(firstTurn),
    tools: request.tools.map(toCodexTool),
    toolNames: new Map(request.tools.map(({ name }) => [toCodexToolName(name), name])),
  };
}
