import {
  toRecordingParty,
  type StoredRecording,
  type RecordingFields,
  type RecordingParty,
} from '#shared/accounts/recordings/recording.ts';
import type { Person } from '../access.ts';

/** Returns the parties with recordings that a person may see: the person, and the teams that they own. Undefined: all parties. */
export function findVisibleParties({ id, role, teams }: Person): RecordingParty[] | undefined {
  if (role === 'admin') return undefined;
  const owned = [...teams].flatMap(([team, teamRole]) => (teamRole === 'owner' ? [`team:${team}` as const] : []));
  return [`user:${id}`, ...owned];
}

export function filterVisible(person: Person, recordings: readonly StoredRecording[]): StoredRecording[] {
  const parties = findVisibleParties(person);
  if (!parties) return [...recordings];
  return recordings.filter(({ facts }) => parties.includes(toRecordingParty(facts)));
}

/**
 * Returns whether a recorded request was sent with a key of the person. A team's key does not count: anybody in the team may have sent it.
 */
export function isSentBy({ id }: Pick<Person, 'id'>, { owner }: Pick<RecordingFields, 'owner'>): boolean {
  return owner?.kind === 'user' && owner.id === id;
}
