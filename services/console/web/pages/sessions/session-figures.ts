import type { AgentProgram } from '#shared/core/agent-turn.ts';
import type { AgentSession, SessionSums } from '../../../contract/agent-sessions.ts';

export const programNames: Record<AgentProgram, string> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  opencode: 'opencode',
  other: 'Other client',
};

/** Returns the share of the input that came from a cache, for example `83 %`; a dash without input. */
export function formatCacheHits({
  promptTokens,
  cachedTokens,
}: Pick<SessionSums, 'promptTokens' | 'cachedTokens'>): string {
  return promptTokens === 0 ? '–' : `${Math.round((cachedTokens / promptTokens) * 100)} %`;
}

/** Lists the names of an agent session's models, without duplicates. The API sorts the models by cost, highest first. */
export function listModelNames({ models }: Pick<AgentSession, 'models'>): string {
  return [...new Set(models.map(({ model }) => model || 'others'))].join(', ') || '–';
}

/** Shortens an id to its beginning and its end, which are enough to tell the ids on a page apart. */
export function shortenId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 6)}…${id.slice(-6)}`;
}

export function nameAgent({ id, type }: { id?: string | undefined; type?: string | undefined }): string {
  if (id === undefined) return 'Further agents';
  return type === undefined ? shortenId(id) : `${type} ${shortenId(id)}`;
}
