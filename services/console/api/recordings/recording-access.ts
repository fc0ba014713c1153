import {
  recordingPartyOf,
  type KeptRecording,
  type RecordingFacts,
  type RecordingParty,
} from '#shared/accounts/recordings/recording.ts';
import type { Person } from '../access.ts';

/** Whose recordings somebody sees: their own and those of the teams that they own; undefined for all. */
export function visibleParties({ id, role, teams }: Person): RecordingParty[] | undefined {
  if (role === 'admin') return undefined;
  const owned = [...teams].flatMap(([team, teamRole]) => (teamRole === 'owner' ? [`team:${team}` as const] : []));
  return [`user:${id}`, ...owned];
}

/** Those of recordings that somebody sees. */
export function visibleOf(person: Person, recordings: readonly KeptRecording[]): KeptRecording[] {
  const parties = visibleParties(person);
  if (!parties) return [...recordings];
  return recordings.filter(({ facts }) => parties.includes(recordingPartyOf(facts)));
}

/** Whether somebody reads what they have sent themself: with a key of their own. With a key of a team it may have been anybody of it. */
export function isOwn({ id }: Pick<Person, 'id'>, { owner }: Pick<RecordingFacts, 'owner'>): boolean {
  return owner?.kind === 'user' && owner.id === id;
}
