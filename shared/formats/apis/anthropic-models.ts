import type { ModelCard } from '../client-api.ts';
import { createFieldError, readWholeNumber } from '../messages/problem-error.ts';
import type { DiscoveredModel } from './discovered-models.ts';

/** A model as Anthropic's API describes it (Anthropic API reference, "Models"). Unknown values are null. */
export interface MessagesModel {
  type: 'model';
  id: string;
  display_name: string;
  /** Set only in lists for Claude Code, which shows this text. */
  description?: string;
  /** RFC 3339. */
  created_at: string;
  capabilities: null;
  lifecycle: 'active';
  line: null;
  deprecated_at: null;
  retires_at: null;
  max_input_tokens: number | null;
  max_tokens: number | null;
}

export interface MessagesModelPage {
  data: MessagesModel[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
}

const defaultLimit = 20;
const maximumLimit = 1000;

export function toMessagesModel(card: ModelCard | DiscoveredModel): MessagesModel {
  const { id, created, contextWindow, maxOutput } = card;
  return {
    type: 'model',
    id,
    display_name: 'displayName' in card ? card.displayName : id,
    ...('description' in card && { description: card.description }),
    created_at: new Date(created * 1000).toISOString(),
    capabilities: null,
    lifecycle: 'active',
    line: null,
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: contextWindow ?? null,
    max_tokens: maxOutput ?? null,
  };
}

/**
 * Returns one page of models for a query with `limit` (1 to 1000, default 20) and either `after_id` or `before_id`.
 * @param query the parsed query string; unknown names are ignored
 * @throws RouterError `invalid_request` for a bad limit, for both ids together, or for an id that is not in the list
 */
export function createModelPage(
  cards: readonly (ModelCard | DiscoveredModel)[],
  query: Readonly<Record<string, unknown>>,
): MessagesModelPage {
  const { limit: requestedLimit, after_id: after, before_id: before } = query;
  const limit = requestedLimit === undefined ? defaultLimit : readWholeNumber('limit', requestedLimit, 1, maximumLimit);
  if (after !== undefined && before !== undefined)
    throw createFieldError('before_id', 'cannot be used together with after_id');
  const start = after === undefined ? 0 : findPosition(cards, 'after_id', after) + 1;
  const end = before === undefined ? cards.length : findPosition(cards, 'before_id', before);
  const page = before === undefined ? cards.slice(start, start + limit) : cards.slice(Math.max(0, end - limit), end);
  return {
    data: page.map(toMessagesModel),
    has_more: end - start > page.length,
    first_id: page.at(0)?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

function findPosition(cards: readonly ModelCard[], param: 'after_id' | 'before_id', id: unknown): number {
  const position = cards.findIndex((card) => card.id === id);
  if (position >= 0) return position;
  throw createFieldError(param, 'no model has this id');
}
