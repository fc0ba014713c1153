import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { encodeAnnouncement, type Announcement } from '#shared/broker/contract/announcement.ts';
import type { WorkerAddress } from '#shared/broker/contract/worker-address.ts';

/** Returns the announcement of an idle worker of the GPU tier, with these facts replaced. */
export function announcementOf(facts: Partial<Announcement> = {}): Announcement {
  return {
    v: 1,
    worker: 'w',
    tier: 'gpu',
    pool: 'p',
    models: [],
    tools: [],
    formats: ['chat'],
    slots: 4,
    busy: 0,
    accepting: true,
    version: '0',
    startedAt: 1,
    ...facts,
  };
}

/** Publishes the announcement of a worker that does not exist. */
export function announce(
  { broker }: { broker: Broker },
  address: WorkerAddress,
  facts: Partial<Announcement> = {},
): void {
  const { tier, worker } = address;
  broker.publish(broker.subjects.heartbeat(address), encodeAnnouncement(announcementOf({ tier, worker, ...facts })));
}
