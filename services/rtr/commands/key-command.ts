import type { Accounts } from '#shared/accounts/accounts.ts';

export interface KeyCommandContext {
  accounts: Pick<Accounts, 'keys' | 'users' | 'links' | 'audit' | 'storeMarker'>;
  /** Address at which browsers reach the router, such as `https://llm.example.com`. */
  consoleUrl: string;
  /** Notifies every ingress that a key has changed. */
  announce: (keyId: string) => Promise<void>;
  print: (line: string) => void;
  /** Whether to print one JSON object per line instead of sentences. */
  json: boolean;
}

/**
 * Notifies every ingress of a stored change. If the message cannot be sent, the change still applies, because every ingress finds the
 * change when it next reads the record.
 * @returns a sentence for the user if the message could not be sent
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
