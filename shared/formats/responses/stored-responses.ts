import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { StoredAnswers } from '../stored-answers.ts';
import { listItems } from './list-items.ts';
import { itemsWithoutSecrets, withoutSecrets } from './without-secrets.ts';

/** A line break and the beginning of each event that ends a stream with a response that is worth storing. */
const marks = ['completed', 'incomplete'].map((status) => Buffer.from(`\nevent: response.${status}`));

const worthStoring: ReadonlySet<unknown> = new Set(['completed', 'incomplete']);

/** How responses are stored and read again. */
export const storedResponses: StoredAnswers = {
  path: '/responses',
  storeField: (store) => ({ store }),
  lastEventAt: (piece) => {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (const mark of marks) {
      // JSON has no line breaks, so only an event begins a line with its name.
      if (bytes.subarray(0, mark.length - 1).equals(mark.subarray(1))) return 0;
      const at = bytes.indexOf(mark);
      if (at >= 0) return at + 1;
    }
    return -1;
  },
  lastEventMark: Math.max(...marks.map(({ length }) => length)),
  readLastEvent: (event) => {
    const lines = event.toString().split('\n');
    const data = lines.find((line) => line.startsWith('data:'));
    const parsed = parse(data?.slice('data:'.length) ?? '');
    return finished(isJsonObject(parsed) ? parsed['response'] : undefined);
  },
  readWhole: (bytes) => finished(parse(bytes.toString())),
  outputOf: (response) => (Array.isArray(response['output']) ? response['output'].filter(isJsonObject) : []),
  storedForm: ({ tools, ...response }, previous) => ({
    ...response,
    // Upstreams may repeat what the client has sent.
    ...(tools !== undefined && { tools: Array.isArray(tools) ? tools.map(withoutSecrets) : [] }),
    store: true,
    previous_response_id: previous ?? null,
  }),
  storedInput: itemsWithoutSecrets,
  listItems,
  removed: (id) => ({ id, object: 'response', deleted: true }),
};

function finished(response: unknown): JsonObject | undefined {
  return isJsonObject(response) && worthStoring.has(response['status']) ? response : undefined;
}

/** What an upstream sent that is no JSON is not stored. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
