import type { Accounts } from '#shared/accounts/accounts.ts';
import type { AuditNote } from '#shared/accounts/people/audit-trail.ts';
import type { Passwords } from '#shared/accounts/sign-in/passwords.ts';
import type { Logger } from '#shared/core/log.ts';
import type { SignedIn } from './session/signed-in.ts';

/** What the API works with. */
export interface ApiParts {
  accounts: Accounts;
  passwords: Passwords;
  /** Judges a password for a client's address: undefined, or what is wrong with it. */
  judgePassword: (owner: string, password: string, known: readonly string[]) => Promise<string | undefined>;
  /** Has every ingress know of a change: of a key, by its id, or of all keys of `user:<id>` or `team:<id>`. Must not throw. */
  announce: (changed: string) => Promise<void>;
  log: Logger;
  /** Where people reach the router, as `https://llm.example.com`; undefined: where the request has come to. */
  publicUrl: string | undefined;
}

/**
 * Records what somebody did in the audit trail and, with ids alone, in the log. The trail keeps a bounded number of each member's
 * changes; how long the log is kept is for whoever runs the router to decide. The change stands already: that the trail cannot be
 * written to is logged too.
 */
export async function record(
  { accounts, log }: Pick<ApiParts, 'accounts' | 'log'>,
  actor: Pick<SignedIn, 'id' | 'name' | 'role'> | null,
  note: Omit<AuditNote, 'actor'>,
): Promise<void> {
  const { action, target } = note;
  const facts = { action, actor: actor?.id, target: target && { kind: target.kind, id: target.id } };
  log.info(facts, 'an entry for the audit trail');
  try {
    await accounts.audit.add({ actor: actor && { id: actor.id, name: actor.name, role: actor.role }, ...note });
  } catch (error) {
    log.error({ err: error, ...facts }, 'the audit trail has a gap');
  }
}
