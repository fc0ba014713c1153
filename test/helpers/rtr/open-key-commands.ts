import type { KeyCommandContext } from '#services/rtr/commands/key-command.ts';
import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import { openKeyStore, type OpenKeyStore } from '../accounts/open-key-store.ts';

/** A store of accounts, and the output and announcements of commands on it. */
export interface OpenKeyCommands extends OpenKeyStore {
  context: KeyCommandContext;
  lines: string[];
  /** The announced changes, in order. */
  announced: string[];
  /** Verifies keys as an ingress that receives the announcements. */
  verifier: KeyVerifier;
}

/** Opens the commands that use a store without a router, for the running test. */
export async function openKeyCommands(): Promise<OpenKeyCommands> {
  const open = await openKeyStore();
  const [lines, announced]: [string[], string[]] = [[], []];
  const verifier = new KeyVerifier(open.store);
  const announce = async (changed: string): Promise<void> => {
    announced.push(changed);
    verifier.drop(changed);
  };
  const print = (line: string): void => void lines.push(line);
  const consoleUrl = 'https://llm.example.com/';
  const context = { accounts: open.accounts, consoleUrl, announce, print, json: false };
  return { ...open, context, lines, announced, verifier };
}
