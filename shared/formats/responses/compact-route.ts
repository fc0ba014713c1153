import { isJsonObject, type Json, toObjectOrEmpty } from '#shared/core/json.ts';
import { parseAnswer } from '#shared/core/has-more-values.ts';
import type { ClientRoute } from '../client-format.ts';
import { parseJsonBody } from '../json-request.ts';

/** The item at the end of an input that asks for a summary of the conversation. */
const trigger = { type: 'compaction_trigger' };

/**
 * The route that compacts a conversation (OpenAI API reference, "Compact a response"). The router adds a `compaction_trigger` to the end of
 * the input. The client gets a list of items in place of a response, and nothing is stored.
 */
export const compactRoute: ClientRoute = {
  path: '/responses/compact',
  operation: 'generate',
  reshape: { request: toCompactionRequest, answer: toCompactionAnswer },
};

/** @throws RouterError `invalid_json` */
function toCompactionRequest(body: Buffer): Buffer {
  const parsed = parseJsonBody(body);
  const items = isJsonObject(parsed) ? readItems(parsed['input']) : undefined;
  // The later check of the request refuses an invalid body.
  if (!isJsonObject(parsed) || !items) return body;
  const changedFields = { input: [...items, trigger], stream: false, store: false };
  return Buffer.from(JSON.stringify({ ...parsed, ...changedFields }));
}

/** Returns the items of an input: an empty list for an absent input, undefined for an invalid input. */
function readItems(input: Json | undefined): Json[] | undefined {
  if (input === undefined || input === null) return [];
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input : undefined;
}

function toCompactionAnswer(answer: Buffer): Buffer | undefined {
  const { id, created_at: created, output, usage } = toObjectOrEmpty(parseAnswer(answer));
  const items = Array.isArray(output)
    ? output.filter((item) => isJsonObject(item) && item['type'] === 'compaction')
    : [];
  if (items.length === 0) return undefined;
  return Buffer.from(JSON.stringify({ id, object: 'response.compaction', created_at: created, output: items, usage }));
}
