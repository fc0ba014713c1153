import type { Accounts } from '#shared/accounts/accounts.ts';

/** What the commands about keys and people work with. */
export interface KeyCommandContext {
  accounts: Pick<Accounts, 'keys' | 'users' | 'links' | 'audit'>;
  /** Where people reach the router, as `https://llm.example.com`. */
  consoleUrl: string;
  /** Tells every ingress that a key changed. */
  announce: (keyId: string) => Promise<void>;
  /** Shows one line to the person, or, as JSON, to the program that gave the command. */
  print: (line: string) => void;
  /** Print one JSON object a line instead of sentences. */
  json: boolean;
}

/**
 * Announces a change that the store holds already. The change stands even if nobody can be told: then every ingress
 * finds it when it reads the record again, and the sentence that says so is returned.
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
