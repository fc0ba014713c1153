import { recordingOf, type FoundKey } from '#shared/accounts/keys/key-record.ts';
import type { RecordingSwitch } from '#shared/accounts/recordings/recording-switch.ts';
import type { RecordingState } from '../../contract/recordings.ts';
import { ApiFailure } from '../api-failure.ts';
import type { Actor } from '../actor.ts';

type Switched = RecordingSwitch & { of: 'key' | 'team' };

/** Who has switched on what is recorded, by their ids, as `UserStore.namesOf` takes them. */
export function switchersOf(found: readonly FoundKey[]): string[] {
  return found.flatMap((key) => recordingOf(key)?.by ?? []);
}

/** By what the requests of a key are recorded, as the API answers it. @param names of people, by id */
export function stateOf(key: FoundKey, names: ReadonlyMap<string, string>): RecordingState | undefined {
  const switched = recordingOf(key);
  return switched && stateAnswer(switched, names);
}

export function stateAnswer({ of, by, since }: Switched, names: ReadonlyMap<string, string>): RecordingState {
  const name = names.get(by);
  return { of, since, ...(name !== undefined && { by: name }) };
}

/**
 * What is stored of a switch: who has switched it on and when, as long as it is on.
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
