import type { AgentSessionReader } from '#shared/accounts/agent-sessions/agent-session-reader.ts';
import type { RunningTurnStats } from '#shared/broker/contract/ingress-stats.ts';
import type { UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import type { UsageParts } from '../usage/usage-parts.ts';

export interface AgentSessionParts extends Pick<UsageParts, 'viewerOf' | 'namesOf'> {
  sessions: Pick<AgentSessionReader, 'list' | 'find' | 'findTree' | 'haveTurns' | 'listTurns' | 'sumByOwner'>;
  usage: Pick<UsageParts['usage'], 'readKeyNames'>;
  /** Returns the turns that are running now, on every ingress. */
  running: () => readonly RunningTurnStats[];
  /** Returns the ids of the teams that a viewer may see: their own, or all for an administrator. */
  teamsOf: (viewer: UsageViewer) => Promise<readonly string[]>;
}
