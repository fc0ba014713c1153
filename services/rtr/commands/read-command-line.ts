import { hostname, userInfo } from 'node:os';
import type { AuditOrigin } from '#shared/accounts/people/audit-trail.ts';

/** Returns who started this process and where, for the audit trail: `ada@workstation`. */
export function readCommandLine(): AuditOrigin {
  return { commandLine: `${readUserName()}@${hostname()}` };
}

function readUserName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container, the user id may have no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
