import { randomBytes } from 'node:crypto';
import { inject, onTestFinished } from 'vitest';
import { jetstreamManager } from '@nats-io/jetstream';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { JetStreamObjects } from '#shared/broker/objects/jetstream-objects.ts';
import { silentLog as log } from '../silent-log.ts';

/**
 * Opens a store of objects in JetStream, for the duration of the running test.
 * @param options `natsUrl` of a server other than that of all test files
 */
export async function openObjects(options: { natsUrl?: string; maxBytes?: number; retryForMs?: number } = {}) {
  const { natsUrl = inject('natsUrl'), maxBytes = 64 * 1024 * 1024, retryForMs } = options;
  const prefix = `t${randomBytes(6).toString('hex')}`;
  const broker = await connectBroker({ url: natsUrl, name: 'test', prefix, log });
  const manager = await jetstreamManager(broker.nc, { checkAPI: false });
  const { objectStream } = broker.subjects;
  onTestFinished(async () => {
    // Its reserved room reduces the room of other stores.
    await manager.streams.delete(objectStream).catch(() => undefined);
    await broker.close();
  });
  return {
    store: new JetStreamObjects(broker, maxBytes, log, retryForMs),
    broker,
    deleteStream: async (): Promise<void> => void (await manager.streams.delete(objectStream)),
    /** Returns the number of messages in the stream: the parts of all objects. */
    parts: async () => (await manager.streams.info(objectStream)).state.messages,
    /** Returns the maximum bytes of the stream. */
    room: async () => (await manager.streams.info(objectStream)).config.max_bytes,
  };
}

export type OpenObjects = Awaited<ReturnType<typeof openObjects>>;
