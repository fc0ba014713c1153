import type { AgentProgram } from '#shared/core/agent-turn.ts';
import type { AgentSession, SessionSums } from '../../../contract/agent-sessions.ts';

/** The display names of programs. */
export const programNames: Record<AgentProgram, string> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  opencode: 'opencode',
  other: 'Other client',
};

/** The share of the input that came from a cache, as `83 %`; a dash without input. */
export function cacheHits({ promptTokens, cachedTokens }: Pick<SessionSums, 'promptTokens' | 'cachedTokens'>): string {
  return promptTokens === 0 ? '–' : `${Math.round((cachedTokens / promptTokens) * 100)} %`;
}

/** The models of a session, each once, the dearest first. */
export function modelNames({ models }: Pick<AgentSession, 'models'>): string {
  return [...new Set(models.map(({ model }) => model || 'others'))].join(', ') || '–';
}

/** The first characters of an id, which tell it from others on a page. */
export function shortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 6)}…${id.slice(-6)}`;
}

/** What to call an agent: its kind, and its id. */
export function agentName({ id, type }: { id?: string | undefined; type?: string | undefined }): string {
  if (id === undefined) return 'Further agents';
  return type === undefined ? shortId(id) : `${type} ${shortId(id)}`;
}
