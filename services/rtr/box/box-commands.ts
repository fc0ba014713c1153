import { homedir, hostname, userInfo } from 'node:os';
import { delimiter, join, sep } from 'node:path';
import type { Command } from 'commander';
import { loadConfig, type Environment } from '#shared/core/load-config.ts';
import { takeLock } from '#shared/core/take-lock.mjs';
import { findOwnCommand } from '../client/lib/own-command.mjs';
import { boxSettings, type BoxConfig } from '../config.ts';
import { createStopSignals } from '../up/stop-signals.ts';
import type { LogRelay } from '../logs/log-relay.ts';
import { toFolderError } from '../up/up-error.ts';
import type { Plan } from '../up/workers/plan-workers.ts';
import { BoxError } from './box-error.ts';
import { installBoxService, pauseBoxService, removeBoxService, runProgram, type ServicePlace } from './box-service.ts';
import type { BoxServiceFacts } from './service-file.ts';
import { boxFolder, type JoinedBox } from './box-state.ts';
import { joinRouter } from './join-router.ts';
import { makeLasting } from './lasting-program.ts';
import { leaveRouter } from './leave-router.ts';
import { serveBox } from './serve-box.ts';

export interface BoxContext {
  /** The data folder of this machine. */
  data: string;
  /** Folder of the project or package. */
  root: string;
  environment: Environment;
  /** Finds the programs and providers of this machine. */
  findPlan: (registryFile: string | undefined) => Promise<Plan>;
  createLogs: (config: BoxConfig) => LogRelay;
  print: (text: string) => void;
}

/** Environment variables that the service of a box gets, if they are set. */
const serviceVariables = ['PATH', 'ENGINE_URLS', 'ENGINE_API_KEY', 'ROUTER_CONFIG', 'NODE_EXTRA_CA_CERTS'];

/** Adds `rtr join` and `rtr leave`, with which a machine becomes a box of a router elsewhere. */
export function addBoxCommands(program: Command, context: BoxContext): void {
  program
    .command('join')
    .description("serve this machine's engines to a router elsewhere")
    .argument('[invitation]', '<address>#<token>; without it, the machine serves the router that it has joined')
    .option('--install', 'run as a service of this user, and return')
    .action((line: string | undefined, { install = false }: { install?: boolean }) =>
      withFolder(context, () => (install ? runInstall : runJoin)(context, line)),
    );
  program
    .command('leave')
    .description('stop serving the router that this machine has joined, and delete what was kept for it')
    .action(() => withFolder(context, () => runLeave(context)));
}

async function runJoin(context: BoxContext, line: string | undefined): Promise<void> {
  const { data, root, environment, print } = context;
  const lock = lockBox(data);
  try {
    const box = await becomeBox(context, line);
    const config = loadConfig(boxSettings, environment);
    const [plan, logs] = [await context.findPlan(config.ROUTER_CONFIG), context.createLogs(config)];
    const folder = boxFolder(data);
    await serveBox({ box, folder, root, config, environment, plan, logs, say: print, ...createStopSignals() });
    print('stopped');
  } finally {
    lock.release();
  }
}

/** Joins as `runJoin`, and lets a service serve. A service that runs already is stopped meanwhile, and goes on if this fails. */
async function runInstall(context: BoxContext, line: string | undefined): Promise<void> {
  const place = findPlace();
  const resume = await pauseBoxService(place);
  try {
    const lock = lockBox(context.data);
    let box: JoinedBox;
    try {
      box = await becomeBox(context, line);
    } finally {
      // The service takes the lock itself.
      lock.release();
    }
    for (const sentence of await installBoxService(place, describeService(context, box))) context.print(sentence);
  } catch (error) {
    await resume?.();
    throw error;
  }
}

function becomeBox({ data, print }: BoxContext, line: string | undefined): Promise<JoinedBox> {
  return joinRouter({ line, folder: boxFolder(data), host: hostname(), say: print, warn: printWarning });
}

function describeService({ data, root, environment }: BoxContext, { name }: JoinedBox): BoxServiceFacts {
  const file = makeLasting(join(root, 'services/rtr/bootstrap.mjs'), join(data, 'app'));
  const lasting: Environment = { ...environment, PATH: removeNpmFolders(environment['PATH'] ?? '') };
  const variables = serviceVariables.flatMap((key) => {
    const value = lasting[key];
    return value === undefined || value === '' ? [] : [[key, value] as const];
  });
  return {
    name,
    command: [process.execPath, file, '--data', data, 'join'],
    environment: Object.fromEntries(variables),
    logFile: join(boxFolder(data), 'box.log'),
  };
}

async function runLeave({ data, print }: BoxContext): Promise<void> {
  if (await removeBoxService(findPlace())) print('The service is stopped and removed.');
  const folder = boxFolder(data);
  const lock = lockBox(data);
  try {
    for (const sentence of await leaveRouter([folder, join(data, 'app')])) print(sentence);
  } finally {
    lock.release();
  }
}

/** Removes the folders that npm puts before the PATH of a program that it runs, and may delete. */
function removeNpmFolders(path: string): string {
  const folders = path.split(delimiter);
  return folders.filter((folder) => !folder.split(sep).includes('node_modules')).join(delimiter);
}

function findPlace(): ServicePlace {
  return { platform: process.platform, home: homedir(), userId: userInfo().uid, run: runProgram };
}

function printWarning(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** @throws BoxError `busy` */
function lockBox(data: string): { release: () => void } {
  const lock = takeLock(join(data, 'box.lock'));
  if ('release' in lock) return lock;
  throw new BoxError(
    'busy',
    `This machine serves as a box already: stop that first, with Ctrl-C in its terminal, with kill ${lock.holder}, or with \`${findOwnCommand()} leave\` if it is a service.`,
  );
}

async function withFolder({ data }: BoxContext, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw toFolderError(error, data);
  }
  process.exit(0);
}
