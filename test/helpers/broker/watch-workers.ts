import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { Announcement } from '#shared/broker/contract/announcement.ts';
import { silentLog } from '../silent-log.ts';

/** The heartbeats of a cluster's workers. */
export interface WorkerWatch {
  /** The last heartbeat of a worker; undefined before its first. */
  heartbeat(worker: string): Announcement | undefined;
  close(): Promise<void>;
}

/** Subscribes to the heartbeats of a cluster, as an ingress does. */
export async function watchWorkers(natsUrl: string, prefix: string): Promise<WorkerWatch> {
  const broker = await connectBroker({ url: natsUrl, name: 'watch', prefix, log: silentLog });
  const workers = new LiveWorkers(broker, silentLog);
  return {
    heartbeat: (worker) => workers.get(worker)?.announcement,
    close: async () => {
      workers.close();
      await broker.nc.close();
    },
  };
}
