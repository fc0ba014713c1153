import { isJsonObject, toObjectOrEmpty, type JsonObject } from '#shared/core/json.ts';
import { parseAnswer } from '#shared/core/has-more-values.ts';
import type { StorableAnswer, StoredAnswers } from '../stored-answers.ts';
import { removeSecretsOfItems, removeSecrets } from './response-object.ts';
import { createFieldError, readWholeNumber } from '../openai/problem-error.ts';

/** A line break and the beginning of each event that ends a stream with a response worth storing. */
const eventMarks = ['completed', 'incomplete'].map((status) => Buffer.from(`\nevent: response.${status}`));

const responseKey = '"response":';

const storedStates: ReadonlySet<unknown> = new Set(['completed', 'incomplete']);

export const storedResponses: StoredAnswers = {
  path: '/responses',
  storeField: (store) => ({ store }),
  findLastEvent: (piece) => {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (const mark of eventMarks) {
      // The data of events is JSON without line breaks, so no line of data can match.
      if (bytes.subarray(0, mark.length - 1).equals(mark.subarray(1))) return 0;
      const at = bytes.indexOf(mark);
      if (at >= 0) return at + 1;
    }
    return -1;
  },
  lastEventMarkBytes: Math.max(...eventMarks.map(({ length }) => length)),
  readLastEvent: (event) => {
    const data = readData(event);
    const text = findResponse(data);
    const storable = text && readAnswer(parseAnswer(text), text);
    if (storable) return storable;
    const { response } = toObjectOrEmpty(parseAnswer(data));
    return readAnswer(response, Buffer.from(JSON.stringify(response ?? null)));
  },
  readWhole: (bytes) => readAnswer(parseAnswer(bytes), bytes),
  readOutput: (response) => (Array.isArray(response['output']) ? response['output'].filter(isJsonObject) : []),
  toStoredAnswer: (response, previous) => {
    const { tools } = response;
    // Upstreams may repeat the client's credentials.
    const toolsWithoutSecrets = Array.isArray(tools) ? tools.map(removeSecrets) : [];
    const fields = { store: true, previous_response_id: previous ?? null };
    const hasFields = Object.entries(fields).every(([field, value]) => response[field] === value);
    const hasNoSecrets = Array.isArray(tools) && toolsWithoutSecrets.every((tool, at) => tool === tools[at]);
    if (hasFields && (hasNoSecrets || tools === undefined)) return response;
    return { ...response, ...(tools !== undefined && { tools: toolsWithoutSecrets }), ...fields };
  },
  toStoredInput: removeSecretsOfItems,
  listItems,
  showRemoval: (id) => ({ id, object: 'response', deleted: true }),
};

function readAnswer(response: unknown, text: Uint8Array): StorableAnswer | undefined {
  return isJsonObject(response) && storedStates.has(response['status']) ? { answer: response, text } : undefined;
}

/** Returns the data of an event. The data is one line. */
function readData(event: Buffer): Buffer {
  const at = event.indexOf('\ndata:');
  if (at === -1) return Buffer.alloc(0);
  const start = at + '\ndata:'.length;
  const end = event.indexOf('\n', start);
  return event.subarray(start, end === -1 ? event.length : end);
}

/**
 * Returns the bytes of the response object in the data of an event. Assumes that the object is the last field, as upstreams and this router
 * write it. The bytes may be no object, so the caller has to parse them.
 */
function findResponse(data: Buffer): Buffer | undefined {
  const start = data.indexOf(responseKey);
  const end = data.lastIndexOf('}');
  // No other object stands before the response object.
  if (start === -1 || data.indexOf('{', data.indexOf('{') + 1) < start) return undefined;
  return data.subarray(start + responseKey.length, end);
}

const defaultLimit = 20;
const maximumLimit = 100;

/**
 * Returns one page of an input's items for a query with `limit` (1 to 100, default 20), `order` (`desc` by default, or `asc`) and `after`
 * (OpenAI API reference, "List input items").
 * @throws RouterError `invalid_request`
 */
export function listItems(items: readonly JsonObject[], query: Readonly<Record<string, unknown>>): object {
  const { order = 'desc', after, limit: requestedLimit } = query;
  if (order !== 'asc' && order !== 'desc') throw createFieldError('order', "must be 'asc' or 'desc'");
  const limit = requestedLimit === undefined ? defaultLimit : readWholeNumber('limit', requestedLimit, 1, maximumLimit);
  const ordered = order === 'asc' ? items : items.toReversed();
  const start = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0) throw createFieldError('after', 'is not the id of an item');
  const data = ordered.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data.at(0)?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: start + data.length < ordered.length,
  };
}
