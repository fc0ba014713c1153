import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';

const defaultLimit = 20;
const maximumLimit = 100;

/**
 * Returns one page of an input's items for a query with `limit` (1 to 100, default 20), `order` (`desc` by default, or `asc`) and `after`
 * (OpenAI API reference, "List input items").
 * @throws RouterError `invalid_request`
 */
export function listItems(items: readonly JsonObject[], query: Readonly<Record<string, unknown>>): object {
  const { order = 'desc', after } = query;
  if (order !== 'asc' && order !== 'desc') throw createFieldError('order', "must be 'asc' or 'desc'");
  const limit = readLimit(query['limit']);
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

function readLimit(value: unknown): number {
  if (value === undefined) return defaultLimit;
  const limit = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : 0;
  if (limit >= 1 && limit <= maximumLimit) return limit;
  throw createFieldError('limit', `must be a whole number from 1 to ${maximumLimit}`);
}

function createFieldError(param: string, problem: string): RouterError {
  return new RouterError('invalid_request', `Invalid '${param}': it ${problem}.`, { param });
}
