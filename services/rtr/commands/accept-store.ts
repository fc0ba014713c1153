import type { KeyCommandContext } from './key-command.ts';

/**
 * `rtr store accept`: confirms that the current content of the account store is intended. An ingress that answers `store_unavailable`,
 * because the store was emptied or replaced, serves again within seconds.
 * @throws RouterError `store_unavailable`
 */
export async function acceptStore({ accounts, print, json }: KeyCommandContext): Promise<void> {
  await accounts.storeMarker.accept();
  const { keys, people } = await accounts.storeMarker.count();
  print(
    json
      ? JSON.stringify({ accepted: true, keys, people })
      : `The store is confirmed with ${keys} keys and ${people} people. Every ingress uses it within seconds.`,
  );
}
