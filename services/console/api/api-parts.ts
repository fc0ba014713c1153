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
 * Writes down what somebody did: in the audit trail, and, with ids alone, in the log. The trail is bounded, so that whoever changes
 * something often enough could push other changes out of it; the log's keeping is for whoever runs the router to decide.
 * The change stands already: a trail that cannot be written to is told to the log as well.
 */
export async function record(
  { accounts, log }: Pick<ApiParts, 'accounts' | 'log'>,
  actor: Pick<SignedIn, 'id' | 'name'> | null,
  note: Omit<AuditNote, 'actor'>,
): Promise<void> {
  const { action, target } = note;
  const facts = { action, actor: actor?.id, target: target && { kind: target.kind, id: target.id } };
  log.info(facts, 'an entry for the audit trail');
  try {
    await accounts.audit.add({ actor: actor && { id: actor.id, name: actor.name }, ...note });
  } catch (error) {
    log.error({ err: error, ...facts }, 'the audit trail has a gap');
  }
}
