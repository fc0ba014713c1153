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

/** Creates the functions that write an entry into the audit trail when a box joins or leaves. */
export function createBoxNotes(parts: Pick<ApiParts, 'accounts' | 'log'>) {
  const toTarget = (name: string) => ({ kind: 'credential', id: name, name });
  return {
    noteJoin: async ({ name, host, address, invitation: { id, tiers, invitedBy } }: JoinedBox): Promise<void> => {
      const details = { tiers, host, invitation: id, invitedBy };
      await writeAudit(parts, null, { action: 'credential.join', target: toTarget(name), details, from: { address } });
    },
    noteLeave: async ({ name, address }: Pick<JoinedBox, 'name' | 'address'>): Promise<void> => {
      await writeAudit(parts, null, {
        action: 'credential.leave',
        target: toTarget(name),
        details: {},
        from: { address },
      });
    },
  };
}
