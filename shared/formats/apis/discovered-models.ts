import type { IncomingHttpHeaders } from 'node:http';
import type { ModelCard } from '../client-api.ts';

/** How a model is listed to Claude Code. */
export interface DiscoveredModel extends ModelCard {
  displayName: string;
  /** Claude Code shows at most 100 characters of it. */
  description: string;
}

/** What Claude Code's list of models keeps: ids that contain one of these. */
const listed = /claude|anthropic/i;

/** Begins the alias of every other model. */
const aliasPrefix = 'anthropic/';

/** Whether a request for the models comes from Claude Code: its other requests have the user agent `claude-cli/…`. */
export function isDiscovery({ 'user-agent': agent }: IncomingHttpHeaders): boolean {
  return agent?.startsWith('claude-code/') ?? false;
}

/** The models as Claude Code lists them: under ids that it keeps, described by what a person chooses by. */
export function discoveredModels(cards: readonly ModelCard[]): DiscoveredModel[] {
  return cards.map((card) => ({
    ...card,
    id: listed.test(card.id) ? card.id : aliasPrefix + card.id,
    displayName: card.tiers.length === 0 ? card.id : `${card.id} (${card.tiers.join(', ')})`,
    description: describe(card),
  }));
}

/** The name behind an alias of `discoveredModels`; undefined for any other name. */
export function nameBehindAlias(name: string): string | undefined {
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
