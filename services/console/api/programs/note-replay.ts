import type { Accounts } from '#shared/accounts/accounts.ts';
import type { Logger } from '#shared/core/log.ts';
import { record } from '../api-parts.ts';

/**
 * Returns the listener that records in the audit trail when the refresh token of a program is used a second time. Whoever sent it then may
 * have stolen it.
 */
export function noteReplay(parts: { accounts: Accounts; log: Logger }) {
  return async ({ programId, userId }: { programId: string; userId: string }): Promise<void> => {
    const name = (await parts.accounts.users.readNames([userId])).get(userId) ?? '';
    await record(parts, null, {
      action: 'program.replay',
      target: { kind: 'user', id: userId, name },
      details: { program: programId },
    });
  };
}
