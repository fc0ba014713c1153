import { findRecordingSwitch, type FoundKey } from '#shared/accounts/keys/key-record.ts';
import type { RecordingSwitch } from '#shared/accounts/recordings/recording.ts';
import type { RecordingState } from '../../contract/recordings.ts';
import { ApiFailure } from '../api-failure.ts';
import type { Actor } from '../actor.ts';

type RecordingCause = RecordingSwitch & { of: 'key' | 'team' };

/** Returns the ids of the people who have switched on the recording of these keys. */
export function findSwitchers(found: readonly FoundKey[]): string[] {
  return found.flatMap((key) => findRecordingSwitch(key)?.by ?? []);
}

/**
 * Returns the API's answer for the switch that makes the requests of a key recorded. Undefined if they are not recorded.
 * @param names the names of people, by id
 */
export function findState(key: FoundKey, names: ReadonlyMap<string, string>): RecordingState | undefined {
  const recordingSwitch = findRecordingSwitch(key);
  return recordingSwitch && toStateAnswer(recordingSwitch, names);
}

export function toStateAnswer({ of, by, since }: RecordingCause, names: ReadonlyMap<string, string>): RecordingState {
  const name = names.get(by);
  return { of, since, ...(name !== undefined && { by: name }) };
}

/**
 * Returns the switch to store, which says who has switched recording on and when, or null to switch it off. A switch that is on already
 * stays as it is.
 * @throws ApiFailure 409 if recordings are off in the whole router
 */
export function computeSwitch(
  current: RecordingSwitch | null | undefined,
  wanted: boolean,
  actor: Pick<Actor, 'id'>,
  isOn: boolean,
): RecordingSwitch | null {
  if (!wanted) return null;
  if (isOn) return current ?? { by: actor.id, since: Date.now() };
  throw new ApiFailure(409, 'recordings_off', 'Nothing is recorded here: the router runs without RECORDINGS=on.');
}
