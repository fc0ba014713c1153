import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DispatcherContact } from '#shared/broker/worker/dispatcher-contact.ts';

/** Sends an echo and answers it after this long. */
function echo(contact: DispatcherContact, number: number, answerMs: number): void {
  contact.recordEcho(number, performance.now());
  vi.advanceTimersByTime(answerMs);
  contact.recordReceived(number);
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

describe('frames that were sent to an ingress', () => {
  it('are confirmed by the answer to a later echo, when they are a second old', () => {
    const contact = new DispatcherContact('one');
    const sentAt = performance.now();
    vi.advanceTimersByTime(1_500);
    expect(contact.findConfirmedTime(performance.now())).toBeLessThan(sentAt);
    echo(contact, 1, 10);
    expect(contact.findConfirmedTime(performance.now())).toBeGreaterThan(sentAt);
    expect(contact.findConfirmedTime(performance.now())).toBe(performance.now() - 1_000);
  });

  it('are not confirmed by the answer to an earlier echo, nor by any other message', () => {
    const contact = new DispatcherContact('one');
    contact.recordEcho(1, performance.now());
    vi.advanceTimersByTime(100);
    const sentAt = performance.now();
    contact.recordEcho(2, performance.now() + 1);
    contact.recordReceived(1);
    contact.recordReceived();
    vi.advanceTimersByTime(2_000);
    expect(contact.findConfirmedTime(performance.now())).toBeLessThan(sentAt);
  });

  it.each<[string, (contact: DispatcherContact) => void]>([
    ['did not answer for a second', () => undefined],
    ['was not subscribed', (contact) => contact.recordAbsent()],
    ['was on the other side of a lost connection', (contact) => contact.reset()],
  ])('stay unconfirmed for five seconds after the ingress %s', (_, fault) => {
    const contact = new DispatcherContact('one');
    echo(contact, 1, 10);
    contact.recordEcho(2, performance.now());
    fault(contact);
    vi.advanceTimersByTime(1_100);
    const sentAt = performance.now();
    contact.recordReceived(2);
    expect(contact.isDoubtful(performance.now())).toBe(true);
    vi.advanceTimersByTime(2_000);
    echo(contact, 3, 10);
    vi.advanceTimersByTime(1_500);
    expect(contact.findConfirmedTime(performance.now())).toBeLessThan(sentAt);
    vi.advanceTimersByTime(2_000);
    echo(contact, 4, 10);
    expect(contact.isDoubtful(performance.now())).toBe(false);
    expect(contact.findConfirmedTime(performance.now())).toBeGreaterThan(sentAt);
  });

  it('are confirmed eventually by an ingress that always answers late', () => {
    const contact = new DispatcherContact('one');
    const sentAt = performance.now();
    for (let number = 1; number <= 10; number += 1) echo(contact, number, 900);
    expect(contact.findConfirmedTime(performance.now())).toBeGreaterThan(sentAt);
  });
});
