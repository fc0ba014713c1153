import { keyStarts } from '#shared/accounts/keys/key-format.ts';
import { type CreatedKey, createFirstRouterKey } from '#shared/accounts/keys/create-key.ts';
import { isUsable, type KeyRecord, maskKey } from '#shared/accounts/keys/key-record.ts';
import { announceChange, type KeyCommandContext } from './key-command.ts';
import { toConsoleLink } from './admin-link.ts';
import type { KeyStore } from '#shared/accounts/keys/key-store.ts';

export interface SetupResult {
  /** The first router key, if this call created it. Its raw form is stored nowhere. */
  created: CreatedKey | undefined;
  /** The usable router keys, including the new one, oldest first. */
  usable: KeyRecord[];
  /** A new link for the first administrator; undefined if an administrator exists. */
  adminLink: string | undefined;
}

/**
 * `rtr setup`: creates the first router key of a cluster and prints it. The key cannot be shown again. Later and concurrent calls
 * create no key, and list the existing keys. Until an administrator exists, each call also prints a new link for the first administrator.
 */
export async function setup(context: KeyCommandContext): Promise<SetupResult> {
  const { accounts, consoleUrl, print, json } = context;
  const created = await createFirstRouterKey(accounts.keys);
  // The key is printed before anything else can fail, because it cannot be shown again.
  if (created && !json) print(`Your router key, shown only this once: ${created.rawKey}`);
  const warning = created && (await announceChange(context, created.record.id));
  const usable = await listUsableRouterKeys(accounts.keys);
  const token = await accounts.links.issueFirstAdmin();
  const adminLink = token && toConsoleLink(consoleUrl, token);
  if (json) {
    const { rawKey: key, record } = created ?? {};
    print(JSON.stringify({ created: created !== undefined, key, id: record?.id, adminLink, warning }));
  } else if (created) {
    if (warning !== undefined) print(warning);
  } else if (usable.length > 0) {
    print(`Set up already. Router keys: ${usable.map(maskKey).join(', ')}`);
  } else {
    print(
      'Set up already, but no router key can be used. Make one where the router runs: rtr keys create --name <name>',
    );
  }
  if (adminLink !== undefined && !json) {
    print(`Open this link within 24 hours to become the first administrator: ${adminLink}`);
  }
  return { created, usable, adminLink };
}

/** Returns the usable keys that were created as router keys, including those of the first administrator, oldest first. */
export async function listUsableRouterKeys(store: KeyStore): Promise<KeyRecord[]> {
  const isRouterKey = ({ kind, start }: KeyRecord): boolean =>
    kind === 'router' || (start ?? '').startsWith(keyStarts.router);
  return (await store.list()).filter((key) => isRouterKey(key) && isUsable(key, Date.now()));
}
