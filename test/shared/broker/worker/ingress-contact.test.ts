import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IngressContact } from '#shared/broker/worker/ingress-contact.ts';

/** Sends an echo and answers it after this long. */
function echo(contact: IngressContact, number: number, answerMs: number): void {
  contact.asked(number, performance.now());
  vi.advanceTimersByTime(answerMs);
  contact.came(number);
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

describe('frames that were sent to an ingress', () => {
  it('are confirmed by the answer to a later echo, when they are a second old', () => {
    const contact = new IngressContact('one');
    const sentAt = performance.now();
    vi.advanceTimersByTime(1_500);
    expect(contact.confirmedBefore(performance.now())).toBeLessThan(sentAt);
    echo(contact, 1, 10);
    expect(contact.confirmedBefore(performance.now())).toBeGreaterThan(sentAt);
    expect(contact.confirmedBefore(performance.now())).toBe(performance.now() - 1_000);
  });

  it('are not confirmed by the answer to an earlier echo, nor by any other message', () => {
    const contact = new IngressContact('one');
    contact.asked(1, performance.now());
    vi.advanceTimersByTime(100);
    const sentAt = performance.now();
    contact.asked(2, performance.now() + 1);
    contact.came(1);
    contact.came();
    vi.advanceTimersByTime(2_000);
    expect(contact.confirmedBefore(performance.now())).toBeLessThan(sentAt);
  });

  it.each<[string, (contact: IngressContact) => void]>([
    ['did not answer for a second', () => undefined],
    ['was not subscribed', (contact) => contact.absent()],
    ['was on the other side of a lost connection', (contact) => contact.reset()],
  ])('stay unconfirmed for five seconds after the ingress %s', (_, fault) => {
    const contact = new IngressContact('one');
    echo(contact, 1, 10);
    contact.asked(2, performance.now());
    fault(contact);
    vi.advanceTimersByTime(1_100);
    const sentAt = performance.now();
    contact.came(2);
    expect(contact.isDoubtful(performance.now())).toBe(true);
    vi.advanceTimersByTime(2_000);
    echo(contact, 3, 10);
    vi.advanceTimersByTime(1_500);
    expect(contact.confirmedBefore(performance.now())).toBeLessThan(sentAt);
    vi.advanceTimersByTime(2_000);
    echo(contact, 4, 10);
    expect(contact.isDoubtful(performance.now())).toBe(false);
    expect(contact.confirmedBefore(performance.now())).toBeGreaterThan(sentAt);
  });

  it('are confirmed eventually by an ingress that always answers late', () => {
    const contact = new IngressContact('one');
    const sentAt = performance.now();
    for (let number = 1; number <= 10; number += 1) echo(contact, number, 900);
    expect(contact.confirmedBefore(performance.now())).toBeGreaterThan(sentAt);
  });
});
