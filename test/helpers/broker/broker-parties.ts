import { randomBytes, randomUUID } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { inject } from 'vitest';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { encodeClaimAnswer } from '#shared/broker/contract/claim.ts';
import type { ContractRange } from '#shared/broker/contract/contract-range.ts';
import { encodeError, type ErrorFacts } from '#shared/broker/contract/frame.ts';
import type { Timeouts } from '#shared/broker/dispatch/sweep/find-exceeded-timeout.ts';
import type { DispatchSettings } from '#shared/broker/dispatch/dispatch-context.ts';
import { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import { hasWorkerBesides, noWorkers, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LivePool, LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { startWorker, type Worker } from '#shared/broker/worker/start-worker.ts';
import type { WorkerOptions } from '#shared/broker/worker/worker-options.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { tapBroker, withData, type TappedBroker } from './tapped-broker.ts';
import { testWorker } from './test-worker.ts';
import { scriptedHandler, type Step } from './scripted-handler.ts';
import { startProcess, type ServiceProcess } from '../processes/start-process.ts';
import { startPausableProxy, type PausableProxy } from '../servers/pausable-proxy.ts';
import { silentLog } from '../silent-log.ts';
import { until } from '../until.ts';

export interface PartyOptions {
  /** Default: the server that all test files share. */
  natsUrl?: string;
  ingress?: Partial<Omit<DispatchSettings, 'timeouts'>> & {
    timeouts?: Partial<Timeouts>;
    contract?: ContractRange;
    /** Whether workers announce that they take offers. If not, every job goes by ticket. Default true. */
    offers?: boolean;
    log?: Logger;
    /** Server of a further ingress. Default: the server of all parties. */
    natsUrl?: string;
    /** Changes the ingress's connection before it uses it. */
    tap?: (tapped: TappedBroker) => void;
  };
}

export interface TestJob {
  job: Job;
  /** Returns all text that the client would have got so far. */
  text: () => string;
  keepAlives: () => number;
  error: () => RouterError | undefined;
  /** Resolves with the job's report and all text for the client. */
  finished: Promise<JobReport & { text: string }>;
  cancel: () => void;
}

/** @property sink functions of the job's sink that the test implements; the others collect the answer */
export type TestRequest = Partial<JobRequest> & { steps?: Step[]; body?: Buffer; sink?: Partial<JobSink> };

/** The ingress's side of the broker contract, without HTTP. */
export interface TestIngress extends TappedBroker {
  id: string;
  workers: LiveWorkers;
  dispatcher: Dispatcher;
  send: (parameters: TestRequest) => TestJob;
  close: () => Promise<void>;
}

/** A worker in the process of the test. */
export interface TestWorker extends TappedBroker {
  worker: Worker;
  id: string;
  /** Closes its connection without a message, as the end of a process does. The step `die` of a job does the same. */
  die: () => Promise<void>;
}

/** Ingresses and workers on one server, under a prefix of their own. */
export interface Parties {
  prefix: string;
  natsUrl: string;
  /** The first ingress. */
  ingress: TestIngress;
  addIngress: (settings?: PartyOptions['ingress']) => Promise<TestIngress>;
  /** Adds an ingress whose connection passes a proxy. */
  addFarIngress: () => Promise<{ far: TestIngress; proxy: PausableProxy }>;
  /** Starts a worker in this process, and resolves when the first ingress lists it. */
  addWorker: (options?: Partial<WorkerOptions>) => Promise<TestWorker>;
  /** Adds workers and waits until all workers of the first ingress take offers. */
  addWaiting: (...options: Partial<WorkerOptions>[]) => Promise<TestWorker[]>;
  /** Starts a scripted worker as a process of its own, and resolves when the first ingress lists it. */
  forkWorker: (environment?: Record<string, string>) => Promise<{ process: ServiceProcess; id: string }>;
  close: () => Promise<void>;
}

/** Starts one ingress, and everything that a test adds to it. Call its `close` in `onTestFinished` or `afterAll`. */
export async function startParties({ natsUrl = inject('natsUrl'), ingress = {} }: PartyOptions = {}): Promise<Parties> {
  const prefix = `t${randomBytes(6).toString('hex')}`;
  const releases: (() => Promise<unknown>)[] = [];
  const connect = async (name: string, url = natsUrl): Promise<TappedBroker> => {
    const broker = await connectBroker({ url, name, prefix, log: silentLog });
    releases.push(() => broker.close());
    return tapBroker(broker);
  };
  const addIngress = async (settings: PartyOptions['ingress'] = {}): Promise<TestIngress> => {
    const made = await startIngress(await connect('ingress', settings.natsUrl), settings);
    releases.push(() => made.close());
    return made;
  };
  const first = await addIngress(ingress);
  const known = (id: string): Promise<void> => until(() => first.workers.get(id) !== undefined);
  const addWorker: Parties['addWorker'] = async (options = {}) => {
    const id = options.id ?? `w${randomBytes(4).toString('hex')}`;
    const tapped = await connect(id);
    const { broker } = tapped;
    const die = (): Promise<void> => broker.nc.close();
    const handler = scriptedHandler(id, undefined, () => void die());
    const worker = startWorker({ ...testWorker, broker, log: silentLog, id, handler, ...options });
    releases.push(async () => {
      await worker.drain(0);
      await worker.close();
    });
    await known(id);
    return { ...tapped, worker, id, die };
  };
  return {
    prefix,
    natsUrl,
    ingress: first,
    addIngress,
    addFarIngress: async () => {
      const proxy = await startPausableProxy(Number(new URL(natsUrl).port));
      releases.push(() => Promise.resolve(proxy.close()));
      const far = await addIngress({ natsUrl: `nats://127.0.0.1:${proxy.port}` });
      return { far, proxy };
    },
    addWorker,
    addWaiting: async (...options) => {
      const workers = await Promise.all(options.map(addWorker));
      await untilOffersAreTaken(first);
      return workers;
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

/** Waits until every worker takes a job without a ticket: all have pulled from their lanes and wait. Each serves an empty job. */
export async function untilOffersAreTaken({ broker, workers }: Pick<TestIngress, 'broker' | 'workers'>): Promise<void> {
  const { subjects } = broker;
  const ingress = `offers-${randomUUID()}`;
  const body = Buffer.from('{"steps":[]}');
  /** The kind of the first frame by grant, except keep-alives. */
  const answers = new Map<string, string>();
  const subscription = broker.subscribe(subjects.allReplies(ingress), ({ subject }) => {
    const [grant = '', kind = ''] = subject.split('.').slice(-3);
    if (kind !== 'k') answers.set(grant, kind);
  });
  const takesOffer = async ({ announcement: { offersAt }, pool }: LiveWorker): Promise<boolean> => {
    if (offersAt === undefined) return true;
    const grant = randomUUID();
    const reply = subjects.reply(ingress, grant);
    const job = { job: grant, requestId: grant, operation: 'generate', format: 'chat', stream: false } as const;
    const where = { model: pool.models[0]?.id ?? '', reply, bodyBytes: body.length };
    const offer = encodeClaimAnswer({ answer: 'grant', v: pool.contract ?? 1, ...job, ...where }, body);
    broker.publish(offersAt, offer, `${reply}.r.0`);
    await until(() => answers.has(grant));
    return answers.get(grant) !== 'r';
  };
  await Promise.all(Array.from(workers.workers(), (worker) => until(() => takesOffer(worker))));
  subscription.unsubscribe();
  await until(() => [...workers.workers()].every((worker) => worker.getsOffers));
}

/** Whether a frame of a job has arrived: until then an offered job counts as not begun, and not as an attempt. */
export function isBegun({ job }: TestJob): boolean {
  return job.state === 'claimed' && job.attempt?.hasSentFrame === true;
}

/** Opens the stream with the tickets of the GPU tier. */
export async function openTicketStream({ broker }: TestIngress) {
  const { streams } = await jetstreamManager(broker.nc, { checkAPI: false });
  const name = broker.subjects.stream('gpu');
  return {
    state: async () => (await streams.info(name)).state,
    purge: () => streams.purge(name),
    delete: () => streams.delete(name),
  };
}

/** Sends a message to a job's ingress as from another process that does not have the job. */
export function loseAsStranger({ id, broker }: TestIngress, { job: { attempt } }: TestJob, facts: ErrorFacts): void {
  const error = new RouterError('worker_lost', 'A part of the answer was lost on its way.');
  broker.publish(`${broker.subjects.reply(id, attempt?.grant ?? '')}.x.0`, encodeError(error, facts));
}

/** Returns a placement in each wanted pool with a worker that takes jobs. */
export function placementsIn(
  workers: LiveWorkers,
  isWanted: (pool: LivePool) => boolean = () => true,
  avoid = noWorkers,
): Placement[] {
  return Array.from(workers.pools())
    .filter((pool) => isWanted(pool) && hasWorkerBesides(pool, avoid))
    .map((pool) => ({ pool, model: pool.models[0]?.id ?? '' }));
}

/** Removes from workers' announcements that they take offers. */
function hideOffers({ broker: { subjects }, onReceive }: TappedBroker): void {
  const prefix = subjects.allHeartbeats.replace(/[*>].*/, '');
  onReceive((message, receive) => {
    if (!message.subject.startsWith(prefix)) return receive(message);
    const announced = Buffer.from(message.data).toString();
    receive(withData(message, Buffer.from(announced.replace(/"offersAt":"[^"]*",?/, ''))));
  });
}

/** Starts an ingress on an existing connection. Parties already have one. */
export async function startIngress(
  tapped: TappedBroker,
  settings: NonNullable<PartyOptions['ingress']>,
): Promise<TestIngress> {
  const { timeouts, contract, offers = true, log = silentLog, tap, ...rest } = settings;
  const { broker } = tapped;
  if (!offers) hideOffers(tapped);
  tap?.(tapped);
  const workers = new LiveWorkers(broker, log, contract);
  const { ingress: id = randomBytes(6).toString('hex') } = settings;
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
      overflowMs: 500,
      keepAliveMs: 10_000,
      maxAttempts: 3,
      ...rest,
    },
    log,
  );
  await dispatcher.prepare();
  return {
    ...tapped,
    id,
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
      findPlacements: (avoid) => placementsIn(workers, undefined, avoid),
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
  const text = (): string => Buffer.concat(pieces).toString();
  return {
    job,
    text,
    keepAlives: () => keepAlives,
    error: () => failure,
    finished: job.finished.then((report) => ({ ...report, text: text() })),
    cancel: () => dispatcher.cancel(job),
  };
}
