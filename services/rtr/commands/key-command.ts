import type { Accounts } from '#shared/accounts/accounts.ts';

/** What the commands for keys and users work with. */
export interface KeyCommandContext {
  accounts: Pick<Accounts, 'keys' | 'users' | 'links' | 'audit' | 'store'>;
  /** Where browsers reach the router, such as `https://llm.example.com`. */
  consoleUrl: string;
  /** Announces to every ingress that a key changed. */
  announce: (keyId: string) => Promise<void>;
  /** Prints one line. */
  print: (line: string) => void;
  /** Whether to print one JSON object per line instead of sentences. */
  json: boolean;
}

/**
 * Announces a change that is already stored. When the announcement fails the change still stands: every ingress finds it when it
 * next reads the record. The returned sentence says so.
 */
export async function announceChange({ announce }: KeyCommandContext, keyId: string): Promise<string | undefined> {
  try {
    await announce(keyId);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `The change could not be announced (${reason}): it takes effect everywhere within 30 seconds.`;
  }
}
