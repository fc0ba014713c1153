import type { IncomingHttpHeaders } from 'node:http';
import type { ModelCard } from '../client-api.ts';

export interface DiscoveredModel extends ModelCard {
  displayName: string;
  /** Claude Code shows at most 100 characters. */
  description: string;
}

/** Claude Code drops ids from its model list that contain none of these words. */
const listedId = /claude|anthropic/i;

/** Prefix of an alias. A model with an id that Claude Code would drop is listed under this prefix followed by the id. */
const aliasPrefix = 'anthropic/';

/** Whether Claude Code requests the model list. Its other requests have the user agent `claude-cli/…`. */
export function requestsModelList({ 'user-agent': agent }: IncomingHttpHeaders): boolean {
  return agent?.startsWith('claude-code/') ?? false;
}

/** Returns the models under ids that Claude Code's list keeps, each with a description that helps a person choose. */
export function toDiscoveredModels(cards: readonly ModelCard[]): DiscoveredModel[] {
  return cards.map((card) => ({
    ...card,
    id: listedId.test(card.id) ? card.id : aliasPrefix + card.id,
    displayName: card.tiers.length === 0 ? card.id : `${card.id} (${card.tiers.join(', ')})`,
    description: describeModel(card),
  }));
}

/** Returns the model name that an alias of `toDiscoveredModels` stands for; undefined for any other name. */
export function resolveAlias(name: string): string | undefined {
  return name.startsWith(aliasPrefix) ? name.slice(aliasPrefix.length) : undefined;
}

function describeModel({ tiers, contextWindow, tokensPerSecond }: ModelCard): string {
  const facts = [
    tiers.length === 0 ? 'any model that can serve a request' : `tier ${tiers.join(' or ')}`,
    ...(contextWindow === undefined ? [] : [`${contextWindow.toLocaleString('en')} tokens of context`]),
    ...(tokensPerSecond === undefined ? [] : [`about ${Math.max(1, Math.round(tokensPerSecond))} tokens/s`]),
  ];
  return facts.join(', ');
}
