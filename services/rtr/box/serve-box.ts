import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '#shared/core/load-config.ts';
import { Releases } from '#shared/core/release.ts';
import type { BoxConfig } from '../config.ts';
import { Children } from '../up/children/children.ts';
import { endLeftovers } from '../up/children/running-children.ts';
import type { LogRelay } from '../logs/log-relay.ts';
import { EngineWorkers } from '../up/workers/engine-workers.ts';
import { findLocalEngines, listModels, listNamedEngines, type Engine } from '../up/workers/find-engines.ts';
import { PlannedWorkers, type Plan } from '../up/workers/plan-workers.ts';
import { BoxError } from './box-error.ts';
import { formatBoxFindings } from './box-report.ts';
import { toBrokerUrl, writeCredentialFiles, type JoinedBox } from './box-state.ts';
import { BoxWorkers } from './box-workers.ts';
import { findGpus } from './find-gpus.ts';
import { ServingReport } from './serving-report.ts';
import { watchAccess } from './watch-access.ts';

export interface ServeBoxOptions {
  box: JoinedBox;
  /** Folder of the box. */
  folder: string;
  /** Folder of the project or package. */
  root: string;
  config: BoxConfig;
  /** Environment variables that all workers get. */
  environment: Environment;
  /** Finds the engines that answer on their usual ports. */
  findLocal?: () => Promise<Engine[]>;
  /** The programs and providers of this machine. */
  plan: Plan;
  logs: LogRelay;
  say: (text: string) => void;
  /** Aborts when the box must stop. */
  stop: AbortSignal;
  /** Aborts when the box must stop at once, without finishing answers. */
  kill: AbortSignal;
}

/** Milliseconds between two looks for new engines. */
const pollMs = 10_000;
/** The same while a worker does not serve yet. */
const waitingPollMs = 2_000;
const workerStopMs = 8_000;

/**
 * Serves this machine's engines to the router of the box, and its programs and providers if the invitation was for their tiers, until
 * `stop` aborts.
 * @throws BoxError if the router does not accept the box any more
 */
export async function serveBox(options: ServeBoxOptions): Promise<void> {
  const releases = new Releases();
  try {
    await runBox(options, releases);
  } catch (error) {
    if (!options.stop.aborted) throw error;
  } finally {
    for (const failure of await releases.releaseAll())
      options.logs.write('error', `${failure.message}: ${String(failure.cause)}`);
  }
}

async function runBox(options: ServeBoxOptions, releases: Releases): Promise<void> {
  const { box, folder, root, config, environment, plan, logs, say, kill } = options;
  const { findLocal: findOnPorts = () => findLocalEngines([]) } = options;
  await endLeftovers(folder);
  const credentialFiles = writeCredentialFiles(folder, box);
  const end = watchUntilRefused(options, Object.values(credentialFiles)[0], releases);

  const children = new Children(folder, logs);
  releases.add('children', () => children.close(workerStopMs));
  kill.addEventListener('abort', () => children.killAll(), { once: true });
  const workers = new BoxWorkers({ root, environment, brokerUrl: toBrokerUrl(box), credentialFiles, children, logs });
  const report = new ServingReport({
    name: box.name,
    isServing: (worker) => workers.isServing(worker),
    listModels: async ({ name, isEngine, models }) => (isEngine ? listModels(name, config.ENGINE_API_KEY) : models),
    say,
  });
  const servesEngines = workers.covers('gpu');
  const namedEngines = servesEngines ? listNamedEngines(config.ENGINE_URLS) : [];
  const findLocal = async () => (servesEngines ? findOnPorts() : []);
  const engineWorkers = new EngineWorkers({
    namedEngines,
    findLocal,
    startWorker: ({ url }) => {
      report.add(`gpu-worker ${url}`, { name: url, isEngine: true, models: undefined });
      return workers.start(`gpu-worker ${url}`, 'gpu', { ENGINE_URL: url });
    },
    // Invented answers are unwanted in a fleet.
    startDemo: undefined,
    countServing: () => Promise.resolve(undefined),
    say: (sentence) => logs.write('info', sentence),
  });
  releases.add('engine workers', () => engineWorkers.stop());
  const plannedWorkers = new PlannedWorkers(({ name, tier, settings }) => {
    const models = settings['CLI_MODELS']?.split(',') ?? [];
    report.add(`${tier}-worker ${name}`, { name, isEngine: false, models });
    return workers.start(`${tier}-worker ${name}`, tier, settings);
  });
  releases.add('planned workers', () => plannedWorkers.stop());

  const [gpus, local] = await Promise.all([findGpus(environment), findLocal()]);
  const found = await Promise.all(
    [...namedEngines, ...local].map(async (engine) => ({
      ...engine,
      models: await listModels(engine.url, config.ENGINE_API_KEY),
    })),
  );
  say(formatBoxFindings({ gpus, engines: found, others: listOthers(plan, workers) }));
  end.throwIfAborted();
  await engineWorkers.start(local);
  await plannedWorkers.begin(plan.ready.filter(({ tier }) => workers.covers(tier)));
  await report.reportJoined(end);
  for (;;) {
    await sleep(report.isWaiting ? waitingPollMs : pollMs, undefined, { signal: end }).catch(() =>
      end.throwIfAborted(),
    );
    await engineWorkers.poll();
    await report.reportLater();
  }
}

/** Returns a signal that aborts when the box must stop, or the router does not accept it any more. */
function watchUntilRefused(
  { box, say, stop }: ServeBoxOptions,
  credentialFile: string | undefined,
  releases: Releases,
): AbortSignal {
  if (credentialFile === undefined)
    throw new BoxError('not_joined', `${box.name} may serve no tier that this release knows: update this program.`);
  const refused = new AbortController();
  const watching = new AbortController();
  const watch = watchAccess({ box, credentialFile, say, stop: AbortSignal.any([stop, watching.signal]) });
  const ended = watch.catch((error: unknown) => refused.abort(error));
  releases.add('watch of the access', async () => {
    watching.abort();
    await ended;
  });
  return AbortSignal.any([stop, refused.signal]);
}

/** Lists programs and providers, with the reason if one is not offered. */
function listOthers({ ready, unready }: Plan, workers: BoxWorkers): string[] {
  const isShown = ({ tier }: { tier: Plan['ready'][number]['tier'] }): boolean =>
    tier !== 'tools' || workers.covers(tier);
  const offered = ready
    .filter(isShown)
    .map(({ tier, detail }) =>
      workers.covers(tier) ? detail : `${detail}: not offered, the invitation is for ${workers.coveredTiers}`,
    );
  return [...offered, ...unready.filter(isShown).map(({ detail }) => detail)];
}
