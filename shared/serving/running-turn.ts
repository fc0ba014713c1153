import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { RunningAgentTurn } from '#shared/broker/dispatch/job-request.ts';
import type { AgentTurn } from '#shared/core/agent-turn.ts';

export function createRunningTurn(
  turn: AgentTurn,
  { id, kind, ownerId = '' }: Pick<KeyIdentity, 'id' | 'kind' | 'ownerId'>,
): RunningAgentTurn {
  return { ...turn, key: id, user: kind === 'user' ? ownerId : '', team: kind === 'team' ? ownerId : '' };
}
