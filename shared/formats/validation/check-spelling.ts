import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject } from '#shared/core/json.ts';
import { chatRequestSchema } from '../chat/schema.ts';
import { messagesRequestSchema } from '../messages/schema.ts';
import { responsesRequestSchema } from '../responses/schema.ts';

const otherFormatFields = [
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

const knownFields = new Set([
  ...[chatRequestSchema, messagesRequestSchema, responsesRequestSchema].flatMap(({ shape }) => Object.keys(shape)),
  ...otherFormatFields,
]);

/** All known names consist of these characters. */
const plainName = /^[a-z0-9_]*$/;

/**
 * Refuses a request with a known field in another case, such as `Model`. The router would ignore the field and pass it on, but engines in
 * Go would accept it.
 * @throws RouterError `invalid_request`
 */
export function checkSpelling(body: unknown): void {
  if (!isJsonObject(body)) return;
  for (const name of Object.keys(body)) {
    if (plainName.test(name)) continue;
    // Go's case folding maps `ſ` to `s` and `K` (the kelvin sign) to `k`.
    const folded = name.toUpperCase().toLowerCase();
    if (knownFields.has(folded)) {
      const message = `Unknown field '${name}': the field is called '${folded}'.`;
      throw new RouterError('invalid_request', message, { param: name });
    }
  }
}
