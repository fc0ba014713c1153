import { createFirstRouterKey, type CreatedKey } from '#shared/accounts/create-key.ts';
import { maskedKey, type KeyRecord } from '#shared/accounts/key-record.ts';
import { announceChange, type KeyCommandContext } from './key-command.ts';
import { usableRouterKeys } from './usable-router-keys.ts';

/** What `rtr setup` found or made. */
export interface SetupResult {
  /** The first router key, when this call made it. Its raw form is known nowhere else. */
  created: CreatedKey | undefined;
  /** The router keys that can be used now, the new one included, oldest first. */
  usable: KeyRecord[];
}

/**
 * `rtr setup`: makes the first router key of a cluster and prints it, once. Later calls, and others at the same time,
 * make nothing and name the keys there are.
 */
export async function setup(context: KeyCommandContext): Promise<SetupResult> {
  const { store, print, json } = context;
  const created = await createFirstRouterKey(store);
  // At once: whatever happens to what follows, the key is known to the person it is for.
  if (created && !json) print(`Your router key, shown only this once: ${created.raw}`);
  const warning = created && (await announceChange(context, created.record.id));
  const usable = await usableRouterKeys(store);
  if (json) {
    print(JSON.stringify({ created: created !== undefined, key: created?.raw, id: created?.record.id, warning }));
  } else if (created) {
    if (warning !== undefined) print(warning);
  } else if (usable.length > 0) {
    print(`Set up already. Router keys: ${usable.map(maskedKey).join(', ')}`);
  } else {
    print('Set up already, but every router key is revoked. Make one with: rtr keys create --name <name>');
  }
  return { created, usable };
}
