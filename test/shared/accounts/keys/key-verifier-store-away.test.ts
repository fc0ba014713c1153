import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createKey, type CreatedKey } from '#shared/accounts/keys/create-key.ts';
import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import type { OpenKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { openThroughProxy } from '../../../helpers/accounts/open-through-proxy.ts';
import { until } from '../../../helpers/until.ts';

let open: OpenKeyStore;
let known: CreatedKey;
let unknown: CreatedKey;
let verifier: KeyVerifier;
let redisIsBack: () => Promise<void>;

beforeEach(async () => {
  const { proxy, behind } = await openThroughProxy();
  open = behind;
  known = await createKey(open.store, { kind: 'router', name: 'known', class: 'normal' });
  unknown = await createKey(open.store, { kind: 'user', name: 'unknown', class: 'normal' });
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  verifier = new KeyVerifier(open.store, { freshMs: 30_000, graceMs: 3_600_000 });
  await verifier.verify(known.rawKey);
  proxy.cut();
  await until(() => open.redis.status !== 'ready');
  redisIsBack = () => {
    proxy.resume();
    return open.connection.whenReady(AbortSignal.timeout(30_000));
  };
});

it('KeyVerifier while Redis is away lets a known key work on for the grace time, and not longer', async () => {
  expect(verifier.verify(known.rawKey)).toMatchObject({ id: known.record.id });
  for (let minute = 0; minute < 59; minute++) {
    vi.advanceTimersByTime(60_000);
    expect(await verifier.verify(known.rawKey)).toMatchObject({ id: known.record.id });
  }
  vi.advanceTimersByTime(120_000);
  await expect(verifier.verify(known.rawKey)).rejects.toMatchObject({ code: 'store_unavailable', retryAfter: 2 });
});

it('KeyVerifier while Redis is away lets a known key work on even when announcements may have been missed', async () => {
  verifier.markStale();
  expect(await verifier.verify(known.rawKey)).toMatchObject({ id: known.record.id });
  expect(verifier.verify(known.rawKey)).toMatchObject({ id: known.record.id });
});

it('KeyVerifier while Redis is away answers "store unavailable", never "wrong", for a key that it cannot verify, and accepts it when Redis is back', async () => {
  await expect(verifier.verify(unknown.rawKey)).rejects.toMatchObject({ code: 'store_unavailable', retryAfter: 2 });
  verifier.drop(known.record.id);
  await expect(verifier.verify(known.rawKey)).rejects.toMatchObject({ code: 'store_unavailable' });
  await redisIsBack();
  await expect(verifier.verify(unknown.rawKey)).resolves.toMatchObject({ id: unknown.record.id });
  await expect(verifier.verify(known.rawKey)).resolves.toMatchObject({ id: known.record.id });
});

it('KeyVerifier while Redis is away finds a revocation within seconds after Redis is back, though nobody announced it', async () => {
  vi.advanceTimersByTime(60_000);
  expect(await verifier.verify(known.rawKey)).toMatchObject({ id: known.record.id });
  await redisIsBack();
  await open.store.revoke(known.record.id, Date.now());
  vi.advanceTimersByTime(1_500);
  await expect(verifier.verify(known.rawKey)).rejects.toMatchObject({ code: 'invalid_api_key' });
});
