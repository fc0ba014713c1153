import { findRecordingSwitch, type FoundKey } from '#shared/accounts/keys/key-record.ts';
import type { RecordingSwitch } from '#shared/accounts/recordings/recording-switch.ts';
import type { RecordingState } from '../../contract/recordings.ts';
import { ApiFailure } from '../api-failure.ts';
import type { Actor } from '../actor.ts';

type Switched = RecordingSwitch & { of: 'key' | 'team' };

/** Returns the ids of the people who have switched on the recording of these keys, for `UserStore.readNames`. */
export function switchersOf(found: readonly FoundKey[]): string[] {
  return found.flatMap((key) => findRecordingSwitch(key)?.by ?? []);
}

/**
 * Returns the switch by which the requests of a key are recorded, as the API answers it.
 * @param names the names of people, by id
 */
export function stateOf(key: FoundKey, names: ReadonlyMap<string, string>): RecordingState | undefined {
  const switched = findRecordingSwitch(key);
  return switched && stateAnswer(switched, names);
}

export function stateAnswer({ of, by, since }: Switched, names: ReadonlyMap<string, string>): RecordingState {
  const name = names.get(by);
  return { of, since, ...(name !== undefined && { by: name }) };
}

/**
 * Returns the switch to store, which says who has switched recording on and when, or null for off. A switch that is on already stays as it
 * is.
 * @throws ApiFailure 409 where recordings are off in the whole router
 */
export function switched(
  now: RecordingSwitch | null | undefined,
  wanted: boolean,
  actor: Pick<Actor, 'id'>,
  isOn: boolean,
): RecordingSwitch | null {
  if (!wanted) return null;
  if (isOn) return now ?? { by: actor.id, since: Date.now() };
  throw new ApiFailure(409, 'recordings_off', 'Nothing is recorded here: the router runs without RECORDINGS=on.');
}
