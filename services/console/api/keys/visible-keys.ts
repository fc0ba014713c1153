import type { KeyStore } from '#shared/accounts/keys/key-store.ts';
import type { FoundKey } from '#shared/accounts/keys/key-record.ts';
import type { Actor } from '../actor.ts';
import { byCreation, pageOf, requireCursor, type Page } from '../operations/page.ts';

interface Asked {
  limit: number;
  cursor: string | undefined;
}

/**
 * Returns a page of the keys that the actor may see.
 * @param owner the id of a person or a team; undefined: all owners
 */
export async function visibleKeys(
  keys: Pick<KeyStore, 'list' | 'listOfOwner' | 'listFrom'>,
  { id, role, teams }: Actor,
  owner: string | undefined,
  page: Asked,
): Promise<Page<FoundKey>> {
  const isAdmin = role === 'admin';
  if (isAdmin && owner === undefined) {
    return page.limit === Infinity ? { data: await keys.list(), next: undefined } : pageOfAll(keys, page);
  }
  const owners = owner === undefined ? [id, ...teams.keys()] : [owner];
  const visible = isAdmin ? owners : owners.filter((each) => each === id || teams.has(each));
  return pageOf((await Promise.all(visible.map((each) => keys.listOfOwner(each)))).flat(), page, byCreation);
}

/**
 * Returns a page of all keys, and reads no more keys than it needs.
 * @throws ApiFailure 400 for an invalid cursor
 */
async function pageOfAll(keys: Pick<KeyStore, 'listFrom'>, { limit, cursor }: Asked): Promise<Page<FoundKey>> {
  requireCursor(cursor, byCreation);
  const from = Number(cursor?.split('.')[0] ?? 0);
  for (let read = limit + 1; ; read *= 2) {
    const { found, isEnd } = await keys.listFrom(from, read);
    const page = pageOf(found, { limit, cursor }, byCreation);
    // Many keys may share the millisecond of the cursor, and some of the keys that were read may be unreadable.
    if (page.next !== undefined || isEnd) return page;
  }
}
