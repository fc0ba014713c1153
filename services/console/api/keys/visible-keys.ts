import type { KeyStore } from '#shared/accounts/keys/key-store.ts';
import type { FoundKey } from '#shared/accounts/keys/key-record.ts';
import type { Actor } from '../actor.ts';
import { byCreation, cutPage, requireCursor, type Page } from '../operations/page.ts';

interface PageRequest {
  limit: number;
  cursor: string | undefined;
}

/**
 * Returns a page of the keys that the actor may see.
 * @param owner the id of a person or a team; undefined: all owners
 */
export async function listVisibleKeys(
  keys: Pick<KeyStore, 'list' | 'listOfOwner' | 'listFrom'>,
  { id, role, teams }: Actor,
  owner: string | undefined,
  page: PageRequest,
): Promise<Page<FoundKey>> {
  const isAdmin = role === 'admin';
  if (isAdmin && owner === undefined) {
    return page.limit === Infinity ? { data: await keys.list(), next: undefined } : readPageOfAll(keys, page);
  }
  const owners = owner === undefined ? [id, ...teams.keys()] : [owner];
  const visible = isAdmin ? owners : owners.filter((each) => each === id || teams.has(each));
  return cutPage((await Promise.all(visible.map((each) => keys.listOfOwner(each)))).flat(), page, byCreation);
}

/**
 * Returns a page of all keys, without reading the keys of later pages.
 * @throws ApiFailure 400 for an invalid cursor
 */
async function readPageOfAll(
  keys: Pick<KeyStore, 'listFrom'>,
  { limit, cursor }: PageRequest,
): Promise<Page<FoundKey>> {
  requireCursor(cursor, byCreation);
  const from = Number(cursor?.split('.')[0] ?? 0);
  for (let count = limit + 1; ; count *= 2) {
    const { found, isEnd } = await keys.listFrom(from, count);
    const page = cutPage(found, { limit, cursor }, byCreation);
    // Too few keys for the page may remain, because many can share the millisecond of the cursor and some can be unreadable. The next round
    // reads twice as many.
    if (page.next !== undefined || isEnd) return page;
  }
}
