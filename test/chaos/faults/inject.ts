import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosCluster } from '../cluster/chaos-cluster.ts';
import type { FaultName } from './fault-kinds.ts';
import type { Fault } from './schedule.ts';

/** A fault that was made. Times are those of `performance.now()`. */
export interface Struck {
  fault: Fault;
  from: number;
  /** When it was undone. */
  to: number;
}

/** What a fault asks of the load. */
export interface Crowds {
  flood(): void;
  vanish(): void;
  stall(): void;
  wait(): void;
  poison(ingress: number): void;
}

const delayMs = 100;

/** Time in which streams that wait for their first token reach the engines, in milliseconds. */
const waitedMs = 600;

/** Makes a fault, waits as long as it lasts, and undoes it. */
export async function inject(cluster: ChaosCluster, crowds: Crowds, fault: Fault): Promise<Struck> {
  if (fault.name === 'worker-kill') {
    // So that it has streams that can move.
    crowds.wait();
    await sleep(waitedMs);
  }
  const from = performance.now();
  const undo = strike(cluster, crowds, fault);
  await sleep(fault.lastsMs);
  await undo();
  return { fault, from, to: performance.now() };
}

const nothing = (): void => undefined;
const restarting = (ready: Promise<void> | undefined) => async () => ready;

/** @returns what undoes it */
function strike(cluster: ChaosCluster, crowds: Crowds, { name, index, lastsMs }: Fault): () => Promise<void> | void {
  const linked = (name.startsWith('ingress') ? cluster.ingresses : cluster.workers)[index];
  const engine = cluster.engines[index];
  const server = ['one', 'two', 'three'][index] ?? '';
  switch (name) {
    case 'worker-kill':
    case 'ingress-kill':
      // As long as it is away: its start may take longer than its end.
      return restarting(linked?.part.kill(lastsMs));
    case 'worker-stop':
    case 'ingress-stop':
      linked?.part.signal('SIGSTOP');
      return () => linked?.part.signal('SIGCONT');
    case 'worker-cut':
    case 'ingress-cut':
      linked?.link.cut();
      return () => linked?.link.restore();
    case 'worker-delay':
    case 'ingress-delay':
      linked?.link.delay(delayMs);
      return () => linked?.link.restore();
    case 'nats-kill':
      cluster.nats.kill(server);
      return () => cluster.nats.restart(server);
    case 'nats-stop':
      cluster.nats.signal(server, 'SIGSTOP');
      return () => cluster.nats.signal(server, 'SIGCONT');
    case 'redis-stop':
      cluster.redis.primary.child.kill('SIGSTOP');
      return () => void cluster.redis.primary.child.kill('SIGCONT');
    case 'engine-500':
    case 'engine-401':
    case 'engine-400':
    case 'engine-garbage':
    case 'engine-hang':
    case 'engine-slow':
      engine?.sicken(sicknessOf(name));
      return () => engine?.sicken(undefined);
    case 'engine-drop':
      engine?.drop();
      return nothing;
    case 'poison':
      crowds.poison(index);
      return nothing;
    case 'flood':
      crowds.flood();
      return nothing;
    case 'clients-vanish':
      crowds.vanish();
      return nothing;
    case 'clients-unread':
      crowds.stall();
      return nothing;
  }
}

function sicknessOf(
  name: Extract<FaultName, `engine-${string}`>,
): '500' | '401' | '400' | 'garbage' | 'hang' | 'slow' | undefined {
  const sickness = name.slice('engine-'.length);
  return (['500', '401', '400', 'garbage', 'hang', 'slow'] as const).find((known) => known === sickness);
}
