import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject } from '#shared/core/json.ts';
import { chatRequestSchema } from '../chat/schema.ts';
import { messagesRequestSchema } from '../messages/schema.ts';
import { responsesRequestSchema } from '../responses/schema.ts';

const ofOtherFormats = [
  'best_of',
  'documents',
  'file',
  'image',
  'language',
  'prompt',
  'query',
  'quality',
  'size',
  'suffix',
  'top_n',
];

const known = new Set([
  ...[chatRequestSchema, messagesRequestSchema, responsesRequestSchema].flatMap(({ shape }) => Object.keys(shape)),
  ...ofOtherFormats,
]);

/** Every known name has these characters only. */
const plainName = /^[a-z0-9_]*$/;

/**
 * Refuses a request with a known field in another spelling, such as `Model`: the router would pass it on unread, and some engines' decoders
 * (Go's) would take it for the field.
 * @throws RouterError `invalid_request`
 */
export function checkSpelling(body: unknown): void {
  if (!isJsonObject(body)) return;
  for (const name of Object.keys(body)) {
    if (plainName.test(name)) continue;
    // As Go folds cases: `ſ` and `K` (the sign of kelvin) are an s and a k.
    const folded = name.toUpperCase().toLowerCase();
    if (known.has(folded)) {
      const message = `Unknown field '${name}': the field is called '${folded}'.`;
      throw new RouterError('invalid_request', message, { param: name });
    }
  }
}
