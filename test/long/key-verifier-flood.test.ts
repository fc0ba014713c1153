import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { createKey } from '#shared/accounts/keys/create-key.ts';
import { checksumLength, keyAlphabet, computeKeyChecksum } from '#shared/accounts/keys/key-format.ts';
import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import { generateKey } from '#shared/accounts/keys/generate-key.ts';
import type { RouterError } from '#shared/core/errors.ts';
import { quantile } from '../bench/report/quantile.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { least } from '../helpers/least.ts';

const floodMs = 1_200;
const wrongPerSecond = 3_000;

let n = 0;
function digits(length: number): string {
  n++;
  return Array.from({ length }, (_, place) => keyAlphabet.charAt(Math.floor(n / 32 ** place) % 32)).join('');
}

/** Another wrong secret for this key's id at every call, with a fitting checksum. */
function forged(raw: string): string {
  const unchecked = raw.slice(0, -40) + digits(40 - checksumLength);
  return unchecked + computeKeyChecksum(unchecked);
}

/** Sends wrong keys at the rate above until stopped, and counts how they were answered. */
function flood(verifier: KeyVerifier, wrongKey: () => string) {
  const answers = new Map<string, number>();
  const count = (answer: string) => answers.set(answer, (answers.get(answer) ?? 0) + 1);
  const began = performance.now();
  const unanswered: Promise<void>[] = [];
  let sent = 0;
  const timer = setInterval(() => {
    for (const due = ((performance.now() - began) / 1_000) * wrongPerSecond; sent < due; sent++) {
      const raw = wrongKey();
      const attempt = (async () => verifier.verify(raw))();
      const fail = (error: { code?: string }) => void count(error.code ?? 'an error without a code');
      unanswered.push(attempt.then(() => void count('let in'), fail));
    }
  }, 5);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(unanswered);
      return { sent, answers: Object.fromEntries(answers) };
    },
  };
}

it.each(['garbage', 'unknown ids', 'wrong secrets for one id', 'wrong secrets for a key in use'] as const)(
  'KeyVerifier under three thousand wrong keys a second (%s) answers good ones without delay, and lets no wrong one in',
  async (kind) => {
    /** The delay of good keys as a share of its bound, see below. */
    const delay = async (): Promise<number> => {
      const { store } = await openKeyStore(inject('redisUrl'));
      const verifier = new KeyVerifier(store, { concurrency: 1 });
      const make = (name: string) => createKey(store, { kind: 'user', name, class: 'normal' });
      const target = await make('target');
      const known = await make('known');
      await verifier.verify(known.rawKey);
      const cold = [];
      for (let i = 0; i < 6; i++) cold.push(await make(`cold ${i}`));

      const wrongKeys = {
        garbage: () => generateKey('user').rawKey.replace(/.$/, '!'),
        'unknown ids': () => generateKey('user').rawKey,
        'wrong secrets for one id': () => forged(target.rawKey),
        'wrong secrets for a key in use': () => forged(known.rawKey),
      };
      const attack = flood(verifier, wrongKeys[kind]);
      const coldMs: number[] = [];
      const knownUs: number[] = [];
      for (const { rawKey: raw, record } of cold) {
        await sleep(floodMs / cold.length);
        const began = performance.now();
        const verified = await (async () => verifier.verify(raw))().catch(({ code }: RouterError) => code);
        // After a stall the flood comes in a burst, whose computations leave no room for another one: not a good round.
        if (verified !== 'overloaded') expect(verified).toMatchObject({ id: record.id });
        coldMs.push(verified === 'overloaded' ? Number.POSITIVE_INFINITY : performance.now() - began);
        const asked = performance.now();
        expect(verifier.verify(known.rawKey)).toMatchObject({ id: known.record.id });
        knownUs.push((performance.now() - asked) * 1_000);
      }
      const { sent, answers } = await attack.stop();

      expect(sent).toBeGreaterThan(floodMs * (wrongPerSecond / 1_000) * 0.8);
      const { invalid_api_key: refused = 0, overloaded = 0, ...others } = answers;
      expect(others).toEqual({});
      expect(refused + overloaded).toBe(sent);
      // A new key waits for at most one computation of the flood, and then for its own: 0.2 ms each on a quiet machine.
      return Math.max(median(coldMs) / 300, Math.max(...coldMs) / 1_000, median(knownUs) / 1_000);
    };
    expect(await least(delay, 1)).toBeLessThan(1);
  },
);

const median = (values: number[]): number => quantile(Float64Array.from(values).sort(), 0.5);
