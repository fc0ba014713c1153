import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mailedEventTypes, type MailedEventType } from '#shared/accounts/webhooks/alert-mails/alert-mail.ts';
import type { RunningMail } from '#shared/accounts/webhooks/alert-mails/alert-mails.ts';
import { composeMail } from '#services/batch-runner/mail/compose-mail.ts';
import type { Mail } from '#services/batch-runner/mail/send-mail.ts';

const use = { budget: 'costPerDay', limit: 25, used: 20.129, period: '2026-11-24', resets_at: 1_795_564_800 };
const budget = { id: 't1', kind: 'team', name: 'Blue', ...use };
const ofService = { kind: 'key', id: 'service:ci', name: 'ci', budget: 'tokensPerMonth', limit: 1e6, used: 999_000 };
const key = { id: 'k1', kind: 'team', name: 'ci', owner_id: 't1', expires_at: 1_795_564_800 };
const worker = { id: 'box.w1', tier: 'gpu', host: 'gpu-3' };
const errors = { requests: 1_812, failed: 540, percent: 29.8, threshold: 20, seconds: 300 };

const events: Record<MailedEventType, object> = {
  'rtr.budget.threshold': { ...budget, percent: 80 },
  'rtr.budget.exhausted': { ...budget, ...ofService },
  'rtr.key.expiring': { ...key, days: 7 },
  'rtr.key.expired': key,
  'rtr.worker.lost': worker,
  'rtr.worker.ejected': { ...worker, reason: 'slow', model: 'qwen3' },
  'rtr.worker.failing': { ...worker, reason: 'unreachable' },
  'rtr.worker.back': { ...worker, after: 'lost' },
  'rtr.model.unserved': { models: ['a', 'b', 'c', 'd'], count: 104 },
  'rtr.model.served': { models: ['a'], count: 1 },
  'rtr.errors.high': errors,
  'rtr.errors.normal': { ...errors, failed: 100, percent: 5.5 },
};

function compose(type: string, data: unknown, more: Partial<RunningMail> = {}, publicUrl?: string): Mail {
  const mail = { id: '0123456789abcdef0123', event: 'evt_1', to: 'user:u1', address: 'ada@example.com' };
  const times = { attempts: 0, createdAt: 1_795_500_000_000, elapsedMs: 0 };
  const facts = { from: { address: 'router@mail.example.com' }, publicUrl };
  return composeMail({ ...mail, ...times, type, data: JSON.stringify(data), ...more }, facts);
}

describe('an alert by e-mail', () => {
  it('contains what happened, to whom, when it ends, and where to find more', () => {
    const mail = compose('rtr.budget.threshold', events['rtr.budget.threshold'], {}, 'https://llm.example.com');
    expect(mail).toEqual({
      to: 'ada@example.com',
      subject: 'Model Router: 80 % of a budget is used: team “Blue”',
      text: [
        'The team “Blue” has used $20.13 of the budget of $25.00 for 2026-11-24, which is 80 % or more.',
        'The budget is reset on 2026-11-25 at 00:00 UTC.',
        'https://llm.example.com/usage',
        'Noticed on 2026-11-24 at 06:00 UTC.',
        '-- \nYou can switch alerts by e-mail off in the console, under Account: https://llm.example.com/account\n',
      ].join('\n\n'),
      messageId: 'evt_1.0123456789abcdef@mail.example.com',
    });
  });

  it('links to pages that the console has', () => {
    const shell = 'services/console/web/shell';
    const sources = ['pages.ts', 'shell.tsx'].map((name) => readFileSync(`${shell}/${name}`, 'utf8'));
    const pages = [...sources.join('\n').matchAll(/path[:=] ?['"](\/\w*)/g)].map(([, path]) => path);
    expect(pages).toContain('/usage');
    for (const type of mailedEventTypes) {
      const { text } = compose(type, events[type], {}, 'https://llm.example.com');
      const links = [...text.matchAll(/https:\/\/llm\.example\.com(\S*)/g)].map(([, path]) => path);
      expect(links).toHaveLength(2);
      for (const link of links) expect(pages).toContain(link);
    }
  });

  it('has a subject of its own for each event, and no links without a public address', () => {
    const mails = mailedEventTypes.map((type) => compose(type, events[type]));
    expect(mails.map(({ subject }) => subject.replace('Model Router: ', ''))).toEqual([
      '80 % of a budget is used: team “Blue”',
      'A budget is used up: service account “ci”',
      'The key “ci” expires on 2026-11-25 at 00:00 UTC',
      'The key “ci” has expired',
      'The worker box.w1 is lost',
      'The worker box.w1 is ejected',
      'The worker box.w1 fails',
      'The worker box.w1 is back',
      '104 models are not served: a, b, c and 101 more',
      'A model is served again: a',
      '29.8 % of the requests fail',
      'The error rate is normal again',
    ]);
    for (const { text } of mails) {
      expect(text).not.toMatch(/undefined|NaN|https?:/);
      expect(text).toContain('under Account.');
    }
  });

  it('has names on one line, however they are written', () => {
    const name = 'x\r\nBcc: eve@example.com\r\n\r\nPay \u202Eme\u2028 now';
    const { subject, text } = compose('rtr.key.expired', { ...key, name });
    expect(subject).toBe('Model Router: The key “x Bcc: eve@example.com Pay me now” has expired');
    expect(text).toContain('“x Bcc: eve@example.com Pay me now”');
    expect(compose('rtr.key.expired', { ...key, name: 'é'.repeat(10_000) }).subject.length).toBeLessThan(300);
  });

  it('names the owner of its address, and that it is the last one for a while', () => {
    const more = { to: 'address:ops@example.com', pausedUntil: 1_795_503_600_000 } as const;
    const { text } = compose('rtr.worker.lost', worker, more);
    expect(text).toContain('Administrators of the router have these alerts sent to this address.');
    expect(text).toContain('the last alert by e-mail to you until 2026-11-24 at 07:00 UTC');
    const other = compose('rtr.worker.lost', worker, { ...more, pausedSource: 'models' });
    expect(other.text).toContain('the last alert by e-mail about models to you until 2026-11-24 at 07:00 UTC');
  });

  it('of an unknown event contains its type and data', () => {
    const { subject, text } = compose('rtr.budget.threshold', { id: 't1', share: 0.8 });
    expect(subject).toBe('Model Router: rtr.budget.threshold');
    expect(text).toContain('{"id":"t1","share":0.8}');
    expect(compose('rtr.moon.full', { phase: 1 }).subject).toBe('Model Router: rtr.moon.full');
  });
});
