import { expect, it, onTestFinished, vi } from 'vitest';
import { DispatcherContacts } from '#shared/broker/worker/dispatcher-contacts.ts';
import { createSubjects } from '#shared/broker/contract/subjects.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

/** Contacts with a broker that answers as the test says, and the dispatchers that were found silent. */
function openContacts() {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
  const silent: string[] = [];
  const broker = {
    subjects: createSubjects('test'),
    connected: true,
    publish: () => undefined,
    measureRoundTripMs: async (): Promise<number | undefined> => 1,
  };
  const onSilent = (ingress: string): void => void silent.push(ingress);
  const contacts = new DispatcherContacts(broker, silentLog, 'test.inbox', onSilent);
  onTestFinished(() => {
    contacts.close();
    vi.useRealTimers();
  });
  return { broker, contacts, silent };
}

it('an ingress that does not answer is silent only once the broker has answered', async () => {
  const { broker, contacts, silent } = openContacts();
  broker.measureRoundTripMs = async () => undefined;
  contacts.getOrCreate('one').recordSent();
  await vi.advanceTimersByTimeAsync(5_000);
  expect([silent, contacts.isSilent('one')]).toEqual([[], false]);
  broker.measureRoundTripMs = async () => 1;
  await vi.advanceTimersByTimeAsync(100);
  expect([silent, contacts.isSilent('one')]).toEqual([['one'], true]);
  contacts.getOrCreate('one').recordReceived();
  expect(contacts.isSilent('one')).toBe(false);
});

it('an ingress whose answer comes just before that of the broker is not silent', async () => {
  const { broker, contacts, silent } = openContacts();
  broker.measureRoundTripMs = async () => {
    contacts.getOrCreate('one').recordReceived();
    return 1;
  };
  contacts.getOrCreate('one').recordSent(true);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(silent).toEqual([]);
});
