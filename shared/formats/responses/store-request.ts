import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { StoreRequest } from '../stored-answers.ts';
import type { ResponsesRequest } from './request.ts';

/** The prefix of the ids that the router gives to items of each type; other types get `item`. */
const prefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
};

/** End of the ids that the router gives to items. No upstream knows these ids. */
const ownIdEnding = /_in\d+$/;

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
        return { ...wholeItem, type, id: `${prefixes[type] ?? 'item'}_${seed}_in${at}` };
      });
    },
    writeResolved: (history, input) =>
      Buffer.from(JSON.stringify({ ...request, input: [...history, ...input].map(removeOwnId) })),
  };
}

/** Returns the items of the input. A text becomes one message. */
function readItems({ input }: ResponsesRequest): JsonObject[] {
  if (Array.isArray(input)) return input;
  if (typeof input !== 'string') return [];
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
}

/** Returns the item id of a reference, which may lack its type; undefined for any other item. */
function findReferencedId(item: JsonObject): string | undefined {
  const { type = null, role, id } = item;
  const isReference = type === 'item_reference' || (type === null && role === undefined);
  return isReference && typeof id === 'string' ? id : undefined;
}

/** Returns an item as a worker gets it, that is, without an id that the router gave it. */
function removeOwnId(item: JsonObject): JsonObject {
  if (!isJsonObject(item) || typeof item['id'] !== 'string' || !ownIdEnding.test(item['id'])) return item;
  const { id: _, ...rest } = item;
  return rest;
}
