import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { silentLog } from '../silent-log.ts';

/** Subscribes to the heartbeats of a cluster, as an ingress does. */
export async function watchWorkers(natsUrl: string, prefix: string) {
  const broker = await connectBroker({ url: natsUrl, name: 'watch', prefix, log: silentLog });
  const workers = new LiveWorkers(broker, silentLog);
  return {
    /** The last heartbeat of a worker; undefined before its first. */
    heartbeat: (worker: string) => workers.get(worker)?.announcement,
    close: async () => {
      workers.close();
      await broker.nc.close();
    },
  };
}

/** The heartbeats of a cluster's workers. */
export type WorkerWatch = Awaited<ReturnType<typeof watchWorkers>>;
