import { afterAll, beforeAll } from 'vitest';
import { shareCluster, type SharedCluster } from '../cluster/share-cluster.ts';
import { startCluster, type Cluster, type ClusterOptions } from '../cluster/start-cluster.ts';
import { uniqueName } from '../unique-name.ts';
import { firstAdministrator } from './first-administrator.ts';
import { closeWindows, inviteToConsole, type InvitationFields, type KnownPerson } from './open-as.ts';
import { buildConsole } from './start-console.ts';

/** A console for most tests of its pages. */
export interface ConsoleWithAda<Of extends Cluster = Cluster> {
  cluster: Of;
  /** The first administrator. */
  ada: KnownPerson;
  /** Creates the account of a person with a unique name, such as `Bob-1a2b3c`. */
  invite: (name: string, fields?: InvitationFields) => Promise<KnownPerson>;
}

/**
 * Starts a console, with its first administrator signed in, before the tests of the calling suite, and stops it afterwards. The returned
 * object has its fields in these tests, and in hooks that the suite adds after it.
 * @param options options of the cluster, or a function that finds them before it starts
 */
export function ownConsole(options: ClusterOptions | (() => Promise<ClusterOptions>) = {}): ConsoleWithAda {
  return useConsole(async () => startCluster(typeof options === 'function' ? await options() : options));
}

export function shareConsole(): ConsoleWithAda<SharedCluster> {
  return useConsole(() => shareCluster({ engine: { DEMO_MODELS: 'demo,other' } }));
}

function useConsole<Of extends Cluster>(start: () => Promise<Of>): ConsoleWithAda<Of> {
  const here: Partial<ConsoleWithAda<Of>> = {};
  beforeAll(async () => {
    await buildConsole();
    const cluster = (here.cluster = await start());
    const ada = (here.ada = await firstAdministrator(cluster));
    here.invite = (name, fields) => inviteToConsole(ada, uniqueName(name), fields);
  }, 120_000);
  afterAll(async () => {
    await closeWindows();
    await here.cluster?.stop();
  });
  return here as ConsoleWithAda<Of>;
}
