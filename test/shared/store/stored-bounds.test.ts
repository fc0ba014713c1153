import { expect, it } from 'vitest';
import { z } from 'zod';
import { toBackgroundBounds } from '#shared/accounts/responses/background/background-settings.ts';
import { toIdempotencyBounds } from '#shared/accounts/idempotent-answers/idempotency-settings.ts';
import { toRecordingBounds } from '#shared/accounts/recordings/recording-settings.ts';
import { computeStoredBounds, storedSettings } from '#shared/store/stored-bounds.ts';
import { loadConfig } from '#shared/core/load-config.ts';

const mebibyte = 1024 * 1024;

function boundsWith(environment: Record<string, string>) {
  const settings = loadConfig(z.object(storedSettings), environment);
  return [
    computeStoredBounds('responses', settings),
    toBackgroundBounds({ ...settings, RESPONSES_KEEP_HOURS: 24 }),
    toIdempotencyBounds(settings),
    toRecordingBounds({ ...settings, RECORDINGS_HOURS: 72 }),
  ];
}

it('each kind of stored things takes a part of the room of an owner, and of the room of all', () => {
  const parts = boundsWith({}).map(({ ownerBytes, totalBytes }) => [ownerBytes / mebibyte, totalBytes / mebibyte]);
  expect(parts).toEqual([
    [32, 128],
    [32, 64],
    [32, 64],
    [32, 128],
  ]);
});

it('all kinds together take no more than the settings say', () => {
  const bounds = boundsWith({ STORED_OWNER_BYTES: '100003', STORED_MAX_BYTES: '1000003' });
  const sum = (field: 'ownerBytes' | 'totalBytes') => bounds.reduce((total, each) => total + each[field], 0);
  expect([sum('ownerBytes'), sum('totalBytes')]).toEqual([100_000, 1_000_002]);
});

it('one answer to an idempotency key takes a quarter of the room of its owner, and at most 8 MiB', () => {
  const answerBytes = (bytes: number) => boundsWith({ STORED_OWNER_BYTES: String(bytes) })[2];
  expect([64, 128, 1_024].map((room) => answerBytes(room * mebibyte))).toMatchObject([
    { answerBytes: 4 * mebibyte },
    { answerBytes: 8 * mebibyte },
    { answerBytes: 8 * mebibyte },
  ]);
});
