import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { encodeAnnouncement } from '#shared/broker/contract/announcement.ts';
import { computeDigest, encodeShortHeartbeat } from '#shared/broker/contract/heartbeats.ts';
import { silentLog } from '../silent-log.ts';
import { announcementOf } from './announcement.ts';

/** Workers per owner: a credential has at most a thousand. */
const ofOwner = 500;

const pools = 20;

export interface ManyWorkers {
  natsUrl: string;
  prefix: string;
  count: number;
}

/**
 * Announces workers without processes, `many-0` and so on, with a heartbeat each second in which one of ten has another number of busy
 * slots; one of ten is full. They serve nothing. After a call of `close` they are lost.
 */
export async function announceMany({ natsUrl, prefix, count }: ManyWorkers): Promise<{ close: () => Promise<void> }> {
  const broker = await connectBroker({ url: natsUrl, name: 'many', prefix, log: silentLog });
  const workers = Array.from({ length: count }, (_, number) => {
    const worker = `many-${number}`;
    const subject = broker.subjects.heartbeat({
      tier: 'gpu',
      credentialName: `o${Math.floor(number / ofOwner)}`,
      process: 'p',
      worker,
    });
    const pool = `vllm-${number % pools}`;
    const models = Array.from({ length: 5 }, (_, at) => ({
      id: `vendor/model-${number % pools}-${at}`,
      capabilities: [],
    }));
    const host = `host-${number}`;
    const facts = announcementOf({ worker, pool, models, slots: 8, host, startedAt: Date.now() });
    return { subject, digest: computeDigest(facts), facts };
  });
  for (const { subject, digest, facts } of workers) broker.publish(subject, encodeAnnouncement({ ...facts, digest }));
  let beats = 0;
  const timer = setInterval(() => {
    beats += 1;
    for (const [number, { subject, digest }] of workers.entries()) {
      const busy = number % 10 === 0 ? 8 : number % 10 === 1 ? beats % 8 : 0;
      broker.publish(subject, encodeShortHeartbeat({ digest, busy }));
    }
  }, 1_000);
  return {
    close: async () => {
      clearInterval(timer);
      await broker.close();
    },
  };
}
