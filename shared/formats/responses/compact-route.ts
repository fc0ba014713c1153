import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ClientRoute } from '../client-format.ts';
import { parseJsonBody } from '../json-request.ts';

/** The item that ends the input of a request for a summary of its conversation. */
const trigger = { type: 'compaction_trigger' };

/**
 * Compacts a conversation (OpenAI API reference, "Compact a response"): a request whose input ends in a `compaction_trigger`, and whose
 * answer is a list of items in place of a response. It is not stored.
 */
export const compactRoute: ClientRoute = {
  path: '/responses/compact',
  operation: 'generate',
  reshape: { request: compactingRequest, answer: compactedResponse },
};

/** @throws RouterError `invalid_json` */
function compactingRequest(body: Buffer): Buffer {
  const parsed = parseJsonBody(body);
  const items = isJsonObject(parsed) ? itemsOf(parsed['input']) : undefined;
  // What is no request is refused when it is read.
  if (!isJsonObject(parsed) || !items) return body;
  const changed = { input: [...items, trigger], stream: false, store: false };
  return Buffer.from(JSON.stringify({ ...parsed, ...changed }));
}

/** The items of an input, which may be left out; undefined for what is no input. */
function itemsOf(input: Json | undefined): Json[] | undefined {
  if (input === undefined || input === null) return [];
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input : undefined;
}

function compactedResponse(answer: Buffer): Buffer | undefined {
  const { id, created_at: created, output, usage } = JSON.parse(answer.toString()) as JsonObject;
  const items = Array.isArray(output)
    ? output.filter((item) => isJsonObject(item) && item['type'] === 'compaction')
    : [];
  if (items.length === 0) return undefined;
  return Buffer.from(JSON.stringify({ id, object: 'response.compaction', created_at: created, output: items, usage }));
}
