import type { JsonObject } from '#shared/core/json.ts';
import type { ResponsesFunctionCall } from '#shared/formats/responses/request.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import { isSystem, readItemsRequest, systemTextOf, type ClientWords, type ItemsRequest } from '../items-request.ts';
import { codexTool, type CodexTool } from './codex-tool.ts';
import { codexToolName } from './codex-tool-name.ts';

export interface CodexRequest extends Omit<ItemsRequest, 'tools'> {
  /** The system messages before the first turn, joined; empty if there are none. Later system messages stay among the items. */
  instructions: string;
  tools: CodexTool[];
  /** The client's names of tools, by Codex's names. */
  toolNames: ReadonlyMap<string, string>;
}

/**
 * Reads a chat request into a request to Codex.
 * @throws RouterError as `readItemsRequest` does
 */
export function readCodexRequest(body: JsonObject, traits: ModelTraits, words: ClientWords): CodexRequest {
  const request = readItemsRequest(body, traits, words);
  const items = request.items.map((item) =>
    item['type'] === 'function_call' ? { ...item, name: codexToolName((item as ResponsesFunctionCall).name) } : item,
  );
  const first = items.findIndex((item) => !isSystem(item));
  return {
    ...request,
    instructions: systemTextOf(items.slice(0, first)),
    items: items.slice(first),
    tools: request.tools.map(codexTool),
    toolNames: new Map(request.tools.map(({ name }) => [codexToolName(name), name])),
  };
}
