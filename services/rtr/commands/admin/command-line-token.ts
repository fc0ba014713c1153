import type { AdminTokenRecord } from '#shared/accounts/keys/admin-tokens/admin-token.ts';
import type { AdminTokenStore } from '#shared/accounts/keys/admin-tokens/admin-token-store.ts';
import { UpError } from '../../up/up-error.ts';
import { hostname, userInfo } from 'node:os';
import type { AuditOrigin } from '#shared/accounts/people/audit-trail.ts';

/** Milliseconds from the creation of a token until it expires. */
const validMs = 300_000;
/** Milliseconds from the creation of a token until the next call of `current` creates another token. */
const replaceAfterMs = 240_000;

/**
 * An admin token of this command line, created in the account store. It belongs to nobody, has the rights of an administrator, and is
 * deleted when the command ends. A command that takes longer than four minutes gets another token.
 */
export class CommandLineToken {
  readonly #store: Pick<AdminTokenStore, 'create' | 'remove'>;
  readonly #createdTokens: AdminTokenRecord[] = [];
  #current: { raw: string; replaceAt: number } | undefined;

  constructor(store: Pick<AdminTokenStore, 'create' | 'remove'>) {
    this.#store = store;
  }

  /**
   * Returns the token to use now.
   * @throws UpError if the account store has too many tokens
   */
  async current(): Promise<string> {
    if (this.#current && Date.now() < this.#current.replaceAt) return this.#current.raw;
    const now = Date.now();
    const { commandLine: madeAt } = readCommandLine();
    const settings = { name: 'rtr', scopes: ['admin'], expiresAt: now + validMs, madeAt, isForCommand: true } as const;
    const created = await this.#store.create(settings);
    if (typeof created === 'string')
      throw new UpError('There are already 100 admin tokens of command lines: revoke some with rtr tokens revoke.');
    this.#createdTokens.push(created.record);
    this.#current = { raw: created.raw, replaceAt: now + replaceAfterMs };
    return created.raw;
  }

  /** Deletes the created tokens. A token that cannot be deleted expires within five minutes. */
  async remove(): Promise<void> {
    await Promise.allSettled(this.#createdTokens.map((token) => this.#store.remove(token)));
  }
}

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
