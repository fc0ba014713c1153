import type { Accounts } from '#shared/accounts/accounts.ts';
import type { Logger } from '#shared/core/log.ts';
import { writeAudit } from '../api-parts.ts';

/**
 * Creates a listener that writes an entry into the audit trail when the refresh token of a program is used a second time. Whoever sent the
 * token then may have stolen it.
 */
export function createReplayListener(parts: { accounts: Accounts; log: Logger }) {
  return async ({ programId, userId }: { programId: string; userId: string }): Promise<void> => {
    const name = (await parts.accounts.users.readNames([userId])).get(userId) ?? '';
    await writeAudit(parts, null, {
      action: 'program.replay',
      target: { kind: 'user', id: userId, name },
      details: { program: programId },
    });
  };
}
