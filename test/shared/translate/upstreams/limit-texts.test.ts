import { describe, expect, it } from 'vitest';
import { createChatErrorAnswer } from '#shared/formats/openai/error.ts';
import { toFailedResponseError } from '#shared/formats/responses/to-failed-response-error.ts';
import { readWait } from '#shared/translate/upstreams/limit-texts.ts';
import { readChatError } from '#shared/translate/upstreams/chat/upstream-error.ts';
import { readMessagesError } from '#shared/translate/upstreams/messages/upstream-error.ts';
import { readResponseError } from '#shared/translate/upstreams/responses/upstream-error.ts';
import { upstreamError } from '#shared/translate/upstreams/upstream-error.ts';

const now = Date.parse('2026-11-29T16:58:30Z');
const hour = 3600;
const spent = 'You have reached your specified API usage limits. You will regain access';

describe('the wait that a refusal names', () => {
  it.each([
    ['Please try again in 1.5s.', 1.5],
    ['Please try again in 20ms.', 1],
    ['Rate limit reached for requests per day. Please try again in 7m12s. Visit https://x', 432],
    ['You exceeded your current quota. Please retry in 34.074824224s.', 34.074824224],
    ['Resource has been exhausted (e.g. check quota).\nSuggested retry after 7200s.', 7200],
    ['Your quota will reset after 2h5m3s.', 2 * hour + 303],
    ['5 hour usage limit reached. Resets in 2hr 5min.', 2 * hour + 300],
    ['Try again in 2 hours and 30 minutes.', 2.5 * hour],
    ["You've hit your limit · resets 4:57pm (UTC)", 60],
    ["You've hit your session limit · resets 6:58pm (UTC)", 2 * hour - 30],
    ["You've hit your session limit · resets 12:30am (Asia/Kolkata)", 2 * hour + 90],
    ["You've hit your session limit · resets 8am (America/Los_Angeles)", 23 * hour + 90],
    ["You've hit your weekly limit · resets Dec 1, 5pm (UTC)", 48 * hour + 90],
    ["You've hit your weekly limit · resets Dec 1 at 5pm (UTC)", 48 * hour + 90],
    ["You've hit your weekly limit · resets Jan 1, 12am (UTC)", Date.parse('2027-01-01') / 1000 - now / 1000],
    ['Claude AI usage limit reached|1796000000', 1_796_000_000 - now / 1000],
    [`${spent} on 2026-12-01 at 00:00 UTC.`, 31 * hour + 90],
  ])('is read from a message: %s', (text, seconds) => {
    expect(readWait(text, now)).toBeCloseTo(seconds, 3);
  });

  it('is in the zone of this machine if the time has none', () => {
    const at = new Date(now + 2 * hour * 1000);
    const time = at.toLocaleTimeString('en-US', { hour: 'numeric', minute: '2-digit' });
    const day = at.toLocaleDateString('en-US', { month: 'short', day: 'numeric' });
    for (const text of [`try again at ${time}.`, `try again at ${day}th, ${at.getFullYear()} ${time}.`])
      expect(readWait(text, now)).toBe(2 * hour - 30);
    expect(readWait(`resets ${time} (No/Where)`, now)).toBe(2 * hour - 30);
  });

  it.each(['Slow down.', 'try again later.', 'resets soon', 'try again at Foo 3rd, 5 PM', 'Your limit resets monthly'])(
    'is unknown for the message %s',
    (text) => expect(readWait(text, now)).toBeUndefined(),
  );
});

describe('the refusal of an account whose allowance is used up', () => {
  const refused = (message: string, retryAfter?: number) => upstreamError({ status: 429, message, retryAfter });

  it.each([
    "You've hit your session limit · resets 5pm (Europe/Paris)",
    'You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro) or try again at 6:58 PM.',
    'You have exhausted your capacity on this model. Your quota will reset after 2h5m3s.',
    'Claude AI usage limit reached',
  ])("has the upstream's wording for clients: %s", (message) => {
    expect(refused(message)).toMatchObject({ code: 'rate_limit_exceeded', message });
  });

  it('is one line, without a number or the name of an organization', () => {
    const hit = "You've hit your limit · resets 5pm";
    expect(refused(`${hit}\n/login to switch`).message).toBe(hit);
    expect(refused('Claude AI usage limit reached|1796000000').message).toBe('Claude AI usage limit reached');
    const rate = refused('Rate limit reached for gpt-5 in organization org-x. Please try again in 2s.');
    expect(rate).toMatchObject({ message: 'The upstream limits the rate of requests.', retryAfter: 2 });
  });

  it('sets a wait of minutes if no time is known, and otherwise the longest known wait', () => {
    expect(refused('You have exhausted your daily quota on this model.').retryAfter).toBe(300);
    expect(refused('You have exhausted your capacity on this model.', 7200).retryAfter).toBe(7200);
    expect(refused('5 hour usage limit reached. Resets in 2hr.', 2).retryAfter).toBe(7200);
  });

  it('is read from the fields of every format', () => {
    const error = { type: 'usage_limit_reached', message: 'The usage limit has been reached', resets_in_seconds: 7200 };
    const { resets_in_seconds: _, ...rest } = error;
    const at = { ...rest, resets_at: Math.floor(Date.now() / 1000) + 7200 };
    for (const read of [
      readChatError(429, JSON.stringify({ error }), {}),
      readChatError(429, JSON.stringify({ error: at }), {}),
      readResponseError({ type: 'error', error }),
      readResponseError({ type: 'error', error: at }),
    ]) {
      expect(read).toMatchObject({ code: 'rate_limit_exceeded', message: 'The usage limit has been reached' });
      expect(read.retryAfter).toBeGreaterThan(7190);
      expect(read.retryAfter).toBeLessThanOrEqual(7200);
    }
  });

  it('is not a fault of the request, though Anthropic sends status 400', () => {
    const of = (message: string) =>
      readMessagesError(400, JSON.stringify({ error: { type: 'invalid_request_error', message } }), {});
    const day = new Date(Date.now() + 48 * hour * 1000).toISOString().slice(0, 10);
    const refusal = of(`${spent} on ${day} at 00:00 UTC.`);
    expect(refusal).toMatchObject({ code: 'rate_limit_exceeded', movable: true });
    expect(refusal.retryAfter).toBeGreaterThan(23 * hour);
    const poor = of('Your credit balance is too low to access the Anthropic API.');
    expect(poor).toMatchObject({ code: 'upstream_failed', movable: true });
  });

  it('names a wait that is not for programs', () => {
    const error = refused('You have exhausted your capacity on this model.', 7200);
    expect(createChatErrorAnswer(error).headers).toMatchObject({ 'retry-after': '7200', 'x-should-retry': 'false' });
    expect(toFailedResponseError(error).message).toBe(error.message);
    expect(toFailedResponseError(refused('', 2)).message).toContain('Please try again in 2s.');
  });
});
