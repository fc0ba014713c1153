import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { objectsIn, type TestS3 } from '../../helpers/servers/start-s3.ts';
import { until } from '../../helpers/until.ts';
import type { ChaosCluster } from '../cluster/chaos-cluster.ts';
import type { Violation } from '../oracle/violation.ts';

/** Milliseconds in which a runner takes over the work of a killed runner, and deletes everything that is no longer needed. */
const cleanMs = 90_000;

/** Objects that stay: the input, and the file of answers. */
const keptObjects = 2;

/** Checks that after a batch none of its jobs waits, and that no object is stored except its files. */
export async function judgeBatchLeftovers({ prefix, redis }: ChaosCluster, s3: TestS3): Promise<Violation[]> {
  const jobs = new BackgroundJobs({ url: redis.url, prefix: `${prefix}:`, log: silentLog });
  let left = '';
  const isClean = async (): Promise<boolean> => {
    const counts = await jobs.countAll();
    const objects = objectsIn(s3);
    // Scheduled jobs always wait for their next time.
    const ofBatches = Object.entries(counts).filter(([queue]) => queue.startsWith('batch-'));
    const isIdle = ofBatches.every(
      ([, { waiting, active, delayed, failed }]) => waiting + active + delayed + failed === 0,
    );
    left = `jobs: ${JSON.stringify(ofBatches)}, objects: ${objects.slice(0, 10).join(' ')}`;
    return isIdle && objects.length === keptObjects;
  };
  try {
    await until(isClean, cleanMs);
    return [];
  } catch {
    return [{ rule: 'leftover', id: 'batch', detail: left }];
  } finally {
    await jobs.close();
  }
}
