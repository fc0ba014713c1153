import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { connectBroker, type Broker } from '#shared/broker/connection/connect-broker.ts';
import type { ContractRange } from '#shared/broker/contract/contract-range.ts';
import type { Timeouts } from '#shared/broker/dispatch/sweep/exceeded-timeout.ts';
import { Dispatcher, type DispatchSettings } from '#shared/broker/dispatch/dispatcher.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import type { Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { startWorker, type Worker } from '#shared/broker/worker/start-worker.ts';
import type { WorkerOptions } from '#shared/broker/worker/worker-options.ts';
import type { RouterError } from '#shared/core/errors.ts';
import { createLog, type Logger } from '#shared/core/log.ts';
import { testWorker } from './test-worker.ts';
import { scriptedHandler, type Step } from './scripted-handler.ts';
import { startProcess, type ServiceProcess } from '../processes/start-process.ts';
import { until } from '../until.ts';

const silent = createLog({ service: 'test', level: process.env['TEST_LOG'] ?? 'silent', format: 'json' });

export interface PartyOptions {
  /** Default: the server that all test files share. */
  natsUrl?: string;
  ingress?: Partial<Omit<DispatchSettings, 'timeouts'>> & {
    timeouts?: Partial<Timeouts>;
    contract?: ContractRange;
    /** False: all workers seem to be of a release that takes no offers, so that every job goes by ticket. Default true. */
    offers?: boolean;
    log?: Logger;
    /** Of a further ingress. Default: the server of all parties. */
    natsUrl?: string;
  };
}

/** A job as a test sees it. */
export interface TestJob {
  job: Job;
  /** Everything that the client would have got so far. */
  text: () => string;
  bytes: () => Buffer;
  keepAlives: () => number;
  error: () => RouterError | undefined;
  finished: Promise<JobReport>;
  cancel: () => void;
}

/** @property sink what of the job's sink a test does itself; the rest collects the answer */
export type TestRequest = Partial<JobRequest> & { steps?: Step[]; body?: Buffer; sink?: Partial<JobSink> };

/** The ingress's side of the broker contract, without HTTP. */
export interface TestIngress {
  broker: Broker;
  workers: LiveWorkers;
  dispatcher: Dispatcher;
  send: (parameters: TestRequest) => TestJob;
  close: () => Promise<void>;
}

/** Ingresses and workers that meet on one server, under a prefix of their own. */
export interface Parties {
  prefix: string;
  natsUrl: string;
  /** The first ingress. */
  ingress: TestIngress;
  addIngress: (settings?: PartyOptions['ingress']) => Promise<TestIngress>;
  /** Starts a worker in this process; it is known to the first ingress when this resolves. */
  addWorker: (options?: Partial<WorkerOptions>) => Promise<{ worker: Worker; broker: Broker; id: string }>;
  /** Starts a scripted worker as a process of its own; it is known to the first ingress when this resolves. */
  forkWorker: (environment?: Record<string, string>) => Promise<{ process: ServiceProcess; id: string }>;
  close: () => Promise<void>;
}

/** Starts one ingress, and whatever a test adds to it. Its `close` belongs into `onTestFinished` or `afterAll`. */
export async function startParties({ natsUrl = inject('natsUrl'), ingress = {} }: PartyOptions = {}): Promise<Parties> {
  const prefix = `t${randomBytes(6).toString('hex')}`;
  const releases: (() => Promise<unknown>)[] = [];
  const connect = async (name: string, url = natsUrl): Promise<Broker> => {
    const broker = await connectBroker({ url, name, prefix, log: silent });
    releases.push(() => broker.close());
    return broker;
  };
  const addIngress = async (settings: PartyOptions['ingress'] = {}): Promise<TestIngress> => {
    const broker = await connect('ingress', settings.natsUrl);
    const made = await startIngress(broker, settings);
    releases.push(() => made.close());
    return made;
  };
  const first = await addIngress(ingress);
  const known = (id: string): Promise<void> => until(() => first.workers.get(id) !== undefined);
  return {
    prefix,
    natsUrl,
    ingress: first,
    addIngress,
    addWorker: async (options = {}) => {
      const id = options.id ?? `w${randomBytes(4).toString('hex')}`;
      const broker = await connect(id);
      const worker = startWorker({
        ...testWorker,
        broker,
        log: silent,
        id,
        handler: scriptedHandler(id),
        ...options,
      });
      releases.push(async () => {
        await worker.drain(0);
        await worker.close();
      });
      await known(id);
      return { worker, broker, id };
    },
    forkWorker: async (environment = {}) => {
      const id = environment['WORKER_ID'] ?? `w${randomBytes(4).toString('hex')}`;
      const settings = { NATS_URL: natsUrl, RTR_PREFIX: prefix, WORKER_ID: id, ...environment };
      const process = startProcess('test/helpers/broker/scripted-worker.ts', settings);
      releases.push(() => process.kill());
      await process.line('worker is ready');
      await known(id);
      return { process, id };
    },
    close: async () => {
      for (const release of releases.toReversed()) await release();
    },
  };
}

/** Waits until every worker takes a job without a ticket: all have looked through their lanes and wait. */
export async function untilOffersAreTaken({ workers, send }: TestIngress): Promise<void> {
  for (const wanted of workers.workers()) {
    await until(async () => {
      for (const worker of workers.workers()) worker.hasRefused = worker !== wanted;
      const { finished, job } = send({});
      const { attempt } = await finished;
      return attempt?.worker === wanted && job.tickets.count === 0;
    }, 5_000);
  }
  for (const worker of workers.workers()) worker.hasRefused = false;
}

/** Whether a frame of a job has come: until then an offered one counts as not begun, and not as an attempt. */
export function isBegun({ job }: TestJob): boolean {
  return job.state === 'claimed' && job.attempt?.hasBegun === true;
}

/** Takes out of what workers announce where they take offers. */
function hideOffers(broker: Broker): void {
  const subscribe = broker.subscribe.bind(broker);
  broker.subscribe = (subject, onMessage, queue) => {
    if (subject !== broker.subjects.allHeartbeats) return subscribe(subject, onMessage, queue);
    return subscribe(subject, (message) => {
      const announced = Buffer.from(message.data).toString();
      const data = Buffer.from(announced.replace(/"offersAt":"[^"]*",?/, ''));
      onMessage(Object.create(message, { data: { value: data } }) as typeof message);
    });
  };
}

async function startIngress(broker: Broker, settings: NonNullable<PartyOptions['ingress']>): Promise<TestIngress> {
  const { timeouts, contract, offers = true, log = silent, ...rest } = settings;
  if (!offers) hideOffers(broker);
  const workers = new LiveWorkers(broker, log, contract);
  const id = randomBytes(6).toString('hex');
  const dispatcher = new Dispatcher(
    broker,
    workers,
    {
      ingress: id,
      timeouts: {
        queueMs: 60_000,
        noWorkerMs: 15_000,
        firstTokenMs: 60_000,
        idleMs: 60_000,
        totalMs: 120_000,
        silenceMs: 10_000,
        brokerMs: 60_000,
        ...timeouts,
      },
      queue: { maxQueued: 10_000, maxAgeMs: 60_000 },
      spillMs: 500,
      keepAliveMs: 10_000,
      maxAttempts: 3,
      ...rest,
    },
    log,
  );
  await dispatcher.prepare();
  return {
    broker,
    workers,
    dispatcher,
    send: (parameters) => send(dispatcher, workers, parameters),
    close: async () => {
      await dispatcher.drain(0);
      dispatcher.close();
      workers.close();
      await broker.close();
    },
  };
}

function send(
  dispatcher: Dispatcher,
  workers: LiveWorkers,
  { steps = [], body, sink, ...fields }: TestRequest,
): TestJob {
  const pieces: Uint8Array[] = [];
  let failure: RouterError | undefined;
  let keepAlives = 0;
  const job = dispatcher.dispatch(
    {
      requestId: `req_${randomBytes(6).toString('hex')}`,
      operation: 'generate',
      format: 'chat',
      stream: true,
      class: 'normal',
      sender: { owner: 'owner', key: 'key' },
      place: (avoid) => everyPool(workers, avoid),
      tiers: () => ['gpu'],
      ...fields,
    },
    body ?? Buffer.from(JSON.stringify({ steps })),
    {
      begin: () => undefined,
      data: (bytes) => void pieces.push(bytes),
      keepAlive: () => {
        keepAlives += 1;
      },
      end: (bytes) => void pieces.push(bytes),
      fail: (error) => {
        failure = error;
      },
      ...sink,
    },
  );
  return {
    job,
    text: () => Buffer.concat(pieces).toString(),
    bytes: () => Buffer.concat(pieces),
    keepAlives: () => keepAlives,
    error: () => failure,
    finished: job.finished,
    cancel: () => dispatcher.cancel(job),
  };
}

/** All pools with a worker that takes jobs. */
function everyPool(workers: LiveWorkers, avoid: ReadonlySet<string>): Placement[] {
  return [...workers.pools()]
    .filter((pool) => [...pool.workers].some(({ id, announcement }) => announcement.accepting && !avoid.has(id)))
    .map((pool) => ({ pool, model: pool.models[0]?.id ?? '' }));
}
