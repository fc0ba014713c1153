import type { IncomingHttpHeaders } from 'node:http';
import type { ModelCard } from '../client-api.ts';

export interface DiscoveredModel extends ModelCard {
  displayName: string;
  /** Claude Code shows at most 100 characters. */
  description: string;
}

/** Claude Code's model list keeps only ids that contain one of these words. */
const listedId = /claude|anthropic/i;

/** Models whose ids Claude Code would not keep are listed under an alias, which is this prefix followed by their id. */
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
    description: describe(card),
  }));
}

/** Returns the model name that an alias of `toDiscoveredModels` stands for; undefined for any other name. */
export function resolveAlias(name: string): string | undefined {
  return name.startsWith(aliasPrefix) ? name.slice(aliasPrefix.length) : undefined;
}

function describe({ tiers, contextWindow, tokensPerSecond }: ModelCard): string {
  const facts = [
    tiers.length === 0 ? 'any model that can serve a request' : `tier ${tiers.join(' or ')}`,
    ...(contextWindow === undefined ? [] : [`${contextWindow.toLocaleString('en')} tokens of context`]),
    ...(tokensPerSecond === undefined ? [] : [`about ${Math.max(1, Math.round(tokensPerSecond))} tokens/s`]),
  ];
  return facts.join(', ');
}
