import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../connection/connect-broker.ts';
import type { DeathChecks } from './deaths/death-checks.ts';
import type { Quarantine } from './deaths/quarantine.ts';
import type { WorkerDeaths } from './deaths/worker-deaths.ts';
import type { Job } from './job.ts';
import type { JobEvent } from './job-event.ts';
import type { JobTable } from './job-table.ts';
import type { QueueSettings } from './queue/jobs-stream.ts';
import type { Timeouts } from './sweep/find-exceeded-timeout.ts';
import type { WorkerLink } from './worker-link.ts';
import type { LiveWorkers } from './workers/live-workers.ts';
import type { OutcomeJudge } from './workers/outcome-judge.ts';

export interface DispatchSettings {
  /** The name of this dispatching process, as a subject token. */
  ingress: string;
  timeouts: Timeouts;
  queue: QueueSettings;
  /** Milliseconds after which an unclaimed ticket overflows into the next lane. */
  overflowMs: number;
  /** Milliseconds without a byte after which the client of a stream gets a keep-alive. */
  keepAliveMs: number;
  /** Maximum grants and accepted offers of one job. */
  maxAttempts: number;
  /** Maximum bytes of the streams that are kept so that they can continue on another worker; 0, the default, disables continuation. */
  continueBytes?: number;
}

/** What the parts of a dispatcher share. */
export interface DispatchContext {
  broker: Broker;
  workers: LiveWorkers;
  settings: DispatchSettings;
  log: Logger;
  jobs: JobTable;
  link: WorkerLink;
  quarantine: Quarantine;
  deaths: WorkerDeaths;
  checks: DeathChecks;
  judge: OutcomeJudge;
  /** Applies an event to a job. */
  raise: (job: Job, event: JobEvent) => void;
}
