import { describe, expect, it } from 'vitest';
import { openCredentialName } from '#shared/broker/contract/worker-address.ts';
import { announcementRate } from '#shared/broker/dispatch/workers/announcement-reader.ts';
import { CredentialRates } from '#shared/broker/dispatch/workers/credential-rates.ts';

const large = 512 * 1024;
const of = (owner: string, worker: string) => ({ tier: 'gpu', credentialName: owner, worker, process: 'p' }) as const;

describe('the rate at which announcements of an owner are parsed', () => {
  it('lets a thousand small workers of one credential come at once', () => {
    const rates = new CredentialRates(announcementRate);
    const takes = Array.from({ length: 1_000 }, (_, at) => rates.use(of('joe', `w${at}`), 900, 0));
    expect(new Set(takes)).toEqual(new Set(['allowed']));
  });

  it('is 4 MiB at once, whichever worker announces them, and half a MiB in each second after that', () => {
    const rates = new CredentialRates(announcementRate);
    for (let at = 0; at < 8; at += 1) expect(rates.use(of('joe', `w${at}`), large, 0)).toBe('allowed');
    expect(rates.use(of('joe', 'other'), large, 0)).toBe('report');
    expect(rates.use(of('joe', 'other'), 1, 0)).toBe('late');
    expect(rates.use(of('ann', 'w'), large, 0)).toBe('allowed');
    expect(rates.use(of('joe', 'w'), large, 999)).toBe('late');
    expect(rates.use(of('joe', 'w'), large, 1_000)).toBe('allowed');
    expect(rates.use(of('joe', 'w'), large, 1_001)).toBe('late');
    expect(rates.use(of('joe', 'w'), large * 9, 61_000)).toBe('report');
  });

  it('applies to each worker separately without credentials', () => {
    const rates = new CredentialRates(announcementRate);
    for (let at = 0; at < 9; at += 1) rates.use(of(openCredentialName, 'one'), large, 0);
    expect(rates.use(of(openCredentialName, 'one'), large, 0)).toBe('late');
    expect(rates.use(of(openCredentialName, 'two'), large, 0)).toBe('allowed');
  });
});

it('what was used for nothing of a rate can be used once more', () => {
  const rates = new CredentialRates({ burst: 10, perSecond: 1, minCost: 1 });
  expect(rates.use(of('joe', 'w'), 10, 0)).toBe('allowed');
  rates.refund(of('joe', 'w'), 10);
  expect(rates.use(of('joe', 'w'), 10, 0)).toBe('allowed');
  expect(rates.use(of('joe', 'w'), 1, 0)).toBe('report');
});
