import type { JsonObject } from '#shared/core/json.ts';
import { createFieldError, readWholeNumber } from '../openai/field-error.ts';

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
