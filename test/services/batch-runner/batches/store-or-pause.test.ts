import { expect, it } from 'vitest';
import { storeOrPause } from '#services/batch-runner/batches/store-or-pause.ts';
import { RunLaterError } from '#shared/background/background-worker.ts';
import { RouterError } from '#shared/core/errors.ts';

function open() {
  const pauses: string[] = [];
  const setPause = async (id: string, paused: { reason: string } | undefined) =>
    void pauses.push(`${id}: ${paused?.reason}`);
  return { parts: { batches: { setPause } }, pauses };
}

it('a batch whose results find no room in the store pauses with that reason', async () => {
  const { parts, pauses } = open();
  const full = () => Promise.reject(new RouterError('storage_full', 'The store is full.'));
  await expect(storeOrPause(parts, 'b1', full)).rejects.toThrow(RunLaterError);
  expect(pauses).toEqual(['b1: The store is full.']);
});

it('a batch whose results find no room in the store does not pause for any other error', async () => {
  const { parts, pauses } = open();
  const away = () => Promise.reject(new RouterError('store_unavailable', 'away'));
  await expect(storeOrPause(parts, 'b1', away)).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(await storeOrPause(parts, 'b1', () => Promise.resolve(7))).toBe(7);
  expect(pauses).toEqual([]);
});
