import type { AgentSessionReader } from '#shared/accounts/agent-sessions/agent-session-reader.ts';
import type { RunningTurnStats } from '#shared/broker/contract/ingress-stats.ts';
import type { UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import type { UsageParts } from '../usage/usage-parts.ts';

/** The dependencies of the operations for sessions of coding agents. */
export interface AgentSessionParts extends Pick<UsageParts, 'viewerOf' | 'namesOf'> {
  sessions: Pick<AgentSessionReader, 'list' | 'find' | 'findTree' | 'areKnown' | 'turns' | 'sums'>;
  usage: Pick<UsageParts['usage'], 'keyNames'>;
  /** The turns that run now, of every ingress. */
  running: () => readonly RunningTurnStats[];
  /** The teams that somebody may see: their own, or all. */
  teamsOf: (viewer: UsageViewer) => Promise<readonly string[]>;
}
