import { deletedName } from '#shared/accounts/people/delete-person.ts';
import type { UserStore } from '#shared/accounts/people/user-store.ts';
import type {
  RegistryVersion as StoredVersion,
  RegistryVersionFacts as StoredFacts,
} from '#shared/accounts/registry-versions/registry-versions.ts';
import type { RegistryVersion, RegistryVersionFacts } from '../../contract/registry.ts';

type Names = Pick<UserStore, 'readNames'>;

/** Converts versions of the registry into the API's answers, with the names of the people who stored them. */
export async function toVersionList(users: Names, versions: readonly StoredFacts[]): Promise<RegistryVersionFacts[]> {
  const names = await users.readNames([...new Set(versions.map(({ by }) => by))]);
  return versions.map(({ number, at, by, byName, note, revertOf, bytes }) => ({
    version: number,
    at,
    by: { id: by, name: names.get(by) ?? byName ?? deletedName(by) },
    ...(note !== undefined && { note }),
    ...(revertOf !== undefined && { revertOf }),
    bytes,
  }));
}

export async function toVersionAnswer(users: Names, version: StoredVersion): Promise<RegistryVersion> {
  const { text, config } = version;
  const [facts] = await toVersionList(users, [{ ...version, bytes: Buffer.byteLength(text) }]);
  if (!facts) throw new Error('a version has no facts');
  return { ...facts, text, config };
}
