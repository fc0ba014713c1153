import type { Accounts } from '#shared/accounts/accounts.ts';
import type { ExternalAccounts } from '#shared/accounts/sign-in/external-accounts/external-accounts.ts';
import type { AuditNote, AuditOrigin } from '#shared/accounts/people/audit-trail.ts';
import type { Recordings } from '#shared/accounts/recordings/recordings.ts';
import type { SecondFactorStore } from '#shared/accounts/sign-in/second-factor/second-factor-store.ts';
import type { Passwords } from '#shared/accounts/sign-in/passwords.ts';
import type { Request } from 'express';
import type { Logger } from '#shared/core/log.ts';
import type { SignInSettings } from '#shared/registry/sign-in.ts';
import type { KnownDevices } from './session/known-devices.ts';
import type { Actor } from './actor.ts';

/** The dependencies of the routes and operations of the API. */
export interface ApiParts {
  accounts: Accounts;
  passwords: Passwords;
  /**
   * Returns what is wrong with a password; undefined for a good password. Calls are queued, and the queue serves client addresses in turn.
   * @param personalTexts the person's name and e-mail address, which make a password easier to guess
   */
  judgePassword: (
    clientAddress: string,
    password: string,
    personalTexts: readonly string[],
  ) => Promise<string | undefined>;
  /**
   * Notifies every ingress that a key, or all keys of a person or team, have changed. Never throws.
   * @param changed the id of a key, or `user:<id>`, `team:<id>` or `program:<id>`
   */
  announce: (changed: string) => Promise<void>;
  log: Logger;
  devices: KnownDevices;
  secondFactors: SecondFactorStore;
  externals: Pick<ExternalAccounts, 'unlink' | 'readProviders'>;
  /** The recorded requests, whether recording can be switched on (`isOn`), and whether recordings are also sent as traces (`isTraced`). */
  recordings: { store: Recordings; isOn: boolean; isTraced: boolean };
  signIn: () => SignInSettings;
  /** Returns the address of the page that signs a person out at a provider; undefined when the provider has none or does not answer. */
  signOutPage: (request: Request, provider: string) => Promise<string | undefined>;
  /** The address at which people reach the router, for example `https://llm.example.com`; undefined: the host of the request. */
  publicUrl: string | undefined;
}

/**
 * Makes a change of a key, person, team or sign-in, and notifies every ingress, also if the store did not answer: it may have made the change
 * without an answer, or make it later.
 * @param changed see `ApiParts.announce`
 * @returns what `change` returns
 */
export async function announceChange<Outcome>(
  { announce }: Pick<ApiParts, 'announce'>,
  changed: string,
  change: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await change();
  } finally {
    await announce(changed);
  }
}

type AuditActor = Pick<Actor, 'id' | 'name' | 'role'> & Partial<Pick<Actor, 'address' | 'sessionId' | 'token'>>;

/**
 * Writes a change into the audit trail and, with ids only, into the log. The trail keeps a limited number of each member's changes; the
 * operator decides how long the log is kept. A failure to write the trail is logged and not thrown, because the change is already made.
 * @param actor null if the router itself made the change
 */
export async function writeAudit(
  { accounts, log }: Pick<ApiParts, 'accounts' | 'log'>,
  actor: AuditActor | null,
  entry: Omit<AuditNote, 'actor'>,
): Promise<void> {
  const { action, target } = entry;
  const facts = { action, actor: actor?.id, target: target && { kind: target.kind, id: target.id } };
  log.info(facts, 'an entry for the audit trail');
  try {
    const from = actor && toAuditOrigin(accounts, actor);
    await accounts.audit.add({
      actor: actor && { id: actor.id, name: actor.name, role: actor.role },
      ...(from && { from }),
      ...entry,
    });
  } catch (error) {
    log.error({ err: error, ...facts }, 'the audit trail has a gap');
  }
}

function toAuditOrigin(
  { sessions }: Accounts,
  { address, sessionId, token }: Pick<AuditActor, 'address' | 'sessionId' | 'token'>,
): AuditOrigin | undefined {
  if (address === undefined) return undefined;
  return {
    address,
    ...(sessionId !== undefined && { session: sessions.hashOf(sessionId) }),
    ...(token && { token: { id: token.id, name: token.name } }),
    ...(token?.madeAt !== undefined && { commandLine: token.madeAt }),
  };
}
