import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { KeyUseRecorder } from '#shared/accounts/keys/key-use-recorder.ts';
import { silentLog as log } from '../../../helpers/silent-log.ts';

let written: Record<string, number>[];
let recorder: KeyUseRecorder;

beforeEach(() => {
  vi.useFakeTimers({ now: 600_000_010 });
  written = [];
  recorder = new KeyUseRecorder({ noteUses: async (uses) => void written.push(Object.fromEntries(uses)) }, log);
});
afterEach(() => void vi.useRealTimers());

it('KeyUseRecorder writes uses together, to the minute, once a minute for a key', async () => {
  for (let n = 0; n < 1_000; n += 1) recorder.note(n % 2 === 0 ? 'even' : 'odd');
  expect(written).toEqual([]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(written).toEqual([{ even: 600_000_000, odd: 600_000_000 }]);
  recorder.note('even');
  await vi.advanceTimersByTimeAsync(50_000);
  expect(written).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(5_000);
  recorder.note('even');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(written[1]).toEqual({ even: 600_060_000 });
});

it('KeyUseRecorder writes what is left when it closes, and nothing if nothing is left', async () => {
  recorder.note('last');
  await recorder.close();
  await recorder.close();
  expect(written).toEqual([{ last: 600_000_000 }]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(written).toHaveLength(1);
});

it('KeyUseRecorder writes ten thousand keys at once at most', async () => {
  for (let n = 0; n < 10_001; n += 1) recorder.note(`k${n}`);
  await recorder.close();
  expect(Object.keys(written[0] ?? {})).toHaveLength(10_000);
  // The key that had no room is written at its next use, even within the same minute.
  recorder.note('k10000');
  await recorder.close();
  expect(written[1]).toEqual({ k10000: 600_000_000 });
});

it('KeyUseRecorder goes on when the store is away', async () => {
  const noteUses = vi.fn(() => Promise.reject(new RouterError('store_unavailable', 'away')));
  const away = new KeyUseRecorder({ noteUses }, log);
  away.note('key');
  await vi.advanceTimersByTimeAsync(5_000);
  away.note('other');
  await away.close();
  expect(noteUses).toHaveBeenCalledTimes(2);
});
