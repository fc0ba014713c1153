import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { Announcement } from '#shared/broker/contract/announcement.ts';
import { createLog } from '#shared/core/log.ts';

/** What the workers of a cluster say in their beats. */
export interface WorkerWatch {
  /** The last beat of a worker; undefined while it has not been heard. */
  beat(worker: string): Announcement | undefined;
  close(): Promise<void>;
}

/** Listens to the beats of a cluster, as an ingress does. */
export async function watchWorkers(natsUrl: string, prefix: string): Promise<WorkerWatch> {
  const log = createLog({ service: 'test', level: 'silent', format: 'json' });
  const broker = await connectBroker({ url: natsUrl, name: 'watch', prefix, log });
  const workers = new LiveWorkers(broker, log);
  return {
    beat: (worker) => workers.get(worker)?.announcement,
    close: async () => {
      workers.close();
      await broker.nc.close();
    },
  };
}
