import type { Tier } from '#shared/core/tier.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';

/** A machine that has joined with an invitation, and the invitation. */
export interface JoinedBox {
  name: string;
  /** The name of its host, as the box reports it. */
  host: string;
  address: string;
  invitation: { id: string; tiers: readonly Tier[]; invitedBy?: string | undefined };
}

/** Creates a listener that writes an entry into the audit trail when a box joins. */
export function createJoinListener(parts: Pick<ApiParts, 'accounts' | 'log'>) {
  return async ({ name, host, address, invitation: { id, tiers, invitedBy } }: JoinedBox): Promise<void> => {
    await writeAudit(parts, null, {
      action: 'credential.join',
      target: { kind: 'credential', id: name, name },
      details: { tiers, host, invitation: id, invitedBy },
      from: { address },
    });
  };
}
