import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { StoreRequest } from '../stored-answers.ts';
import type { ResponsesRequest } from './request.ts';

/** Prefixes of the ids that the router gives to items, by type. Ids of other types begin with `item`. */
const idPrefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
};

/** Matches the end of the ids that the router gives to items. Upstreams do not have items with these ids. */
const routerIdEnding = /_in\d+$/;

export function createStoreRequest(request: ResponsesRequest): StoreRequest {
  const ownItems = readItems(request);
  const references = new Set(ownItems.flatMap((item) => findReferencedId(item) ?? []));
  return {
    store: request.store ?? undefined,
    previous: request.previous_response_id ?? undefined,
    references: [...references],
    input: (items, seed = randomUUID().replaceAll('-', '')) => {
      return ownItems.map((item, at) => {
        const reference = findReferencedId(item);
        const wholeItem = (reference === undefined ? undefined : items.get(reference)) ?? item;
        if (typeof wholeItem['id'] === 'string') return wholeItem;
        const type = typeof wholeItem['type'] === 'string' ? wholeItem['type'] : 'message';
        return { ...wholeItem, type, id: `${idPrefixes[type] ?? 'item'}_${seed}_in${at}` };
      });
    },
    writeResolved: (history, input) =>
      Buffer.from(JSON.stringify({ ...request, input: [...history, ...input].map(removeRouterId) })),
  };
}

/** Returns the items of the input. A text becomes one message. */
function readItems({ input }: ResponsesRequest): JsonObject[] {
  if (Array.isArray(input)) return input;
  if (typeof input !== 'string') return [];
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
}

/** Returns the item id of a reference; undefined for any other item. A reference may lack its type. */
function findReferencedId(item: JsonObject): string | undefined {
  const { type = null, role, id } = item;
  const isReference = type === 'item_reference' || (type === null && role === undefined);
  return isReference && typeof id === 'string' ? id : undefined;
}

/** Removes the id of an item if the router has given it. Workers get items without such ids. */
function removeRouterId(item: JsonObject): JsonObject {
  if (!isJsonObject(item) || typeof item['id'] !== 'string' || !routerIdEnding.test(item['id'])) return item;
  const { id: _, ...rest } = item;
  return rest;
}
