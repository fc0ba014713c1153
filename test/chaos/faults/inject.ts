import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from '#services/rtr/up/children/child.ts';
import type { RedisPair } from '../../helpers/servers/start-redis-pair.ts';
import { until } from '../../helpers/until.ts';
import type { ChaosCluster, Linked } from '../cluster/chaos-cluster.ts';
import type { FaultName } from './fault-kinds.ts';
import type { Sickness } from './engine-front.ts';
import type { Fault } from './schedule.ts';

/** A fault that has struck. Times are those of `performance.now()`. */
export interface Struck {
  fault: Fault;
  from: number;
  /** When it was undone. */
  to: number;
}

export interface Crowds {
  flood(): void;
  vanish(): void;
  stall(): void;
  wait(): void;
  poison(ingress: number): void;
}

const delayMs = 100;

/** Milliseconds in which streams that wait for their first token reach the engines. */
const waitedMs = 600;

/** Milliseconds in which the sentinels announce a new primary to all clients. */
const toldMs = 1_000;

/**
 * Causes a fault, waits as long as it lasts, and undoes it.
 * @throws Error that names the fault
 */
export async function inject(cluster: ChaosCluster, crowds: Crowds, fault: Fault): Promise<Struck> {
  try {
    return await make(cluster, crowds, fault);
  } catch (error) {
    throw new Error(`${fault.name} of ${fault.index} at ${fault.at} ms could not be made or undone`, { cause: error });
  }
}

async function make(cluster: ChaosCluster, crowds: Crowds, fault: Fault): Promise<Struck> {
  if (fault.name === 'worker-kill') {
    // So that it has streams that can move.
    crowds.wait();
    await sleep(waitedMs);
  }
  // The cluster survives the loss of one server of each kind, but not of another one before the first has caught up.
  if (fault.name.startsWith('redis')) await cluster.redis.whole();
  if (fault.name.startsWith('nats')) await cluster.nats.whole();
  const from = performance.now();
  const undo = await strike(cluster, crowds, fault);
  await sleep(fault.lastsMs);
  await undo();
  return { fault, from, to: performance.now() };
}

const nothing = (): void => undefined;
const restarting = (ready: Promise<void> | undefined) => async () => ready;

/**
 * Causes a fault.
 * @returns a function that undoes it
 */
async function strike(
  cluster: ChaosCluster,
  crowds: Crowds,
  { name, index, lastsMs, draw }: Fault,
): Promise<() => Promise<void> | void> {
  const linked = linkedOf(cluster, name)[index];
  const engine = cluster.engines[index];
  const server = ['one', 'two', 'three'][index] ?? '';
  switch (name) {
    case 'worker-kill':
    case 'ingress-kill':
    case 'runner-kill':
      // As long as it is away: its start may take longer than its end.
      return restarting(linked?.part.kill(lastsMs));
    case 'worker-stop':
    case 'ingress-stop':
      linked?.part.signal('SIGSTOP');
      return () => linked?.part.signal('SIGCONT');
    case 'worker-cut':
    case 'ingress-cut':
      linked?.link.cut();
      return () => linked?.link.resume();
    case 'worker-delay':
    case 'ingress-delay':
      linked?.link.delay(delayMs);
      return () => linked?.link.resume();
    case 'worker-clock':
    case 'ingress-clock':
      linked?.part.shiftClock(clockShift(draw));
      return () => linked?.part.shiftClock(0);
    case 'nats-kill':
      cluster.nats.kill(server);
      return () => cluster.nats.restart(server);
    case 'nats-stop':
      cluster.nats.signal(server, 'SIGSTOP');
      return () => cluster.nats.signal(server, 'SIGCONT');
    case 'nats-full': {
      const startAgain = (): Promise<void> => {
        cluster.nats.kill(server);
        return cluster.nats.restart(server);
      };
      await cluster.disks?.fill(server);
      await startAgain();
      return async () => {
        await cluster.disks?.empty(server);
        await startAgain();
      };
    }
    case 'redis-kill':
      return failOver(cluster.redis);
    case 'redis-full': {
      const full = await cluster.redis.current();
      const disk = full === cluster.redis.primary ? 'primary' : 'replica';
      await cluster.disks?.fill(disk);
      return async () => {
        await until(async () => (await cluster.redis.current()) !== full, 30_000);
        // Its clients have been informed.
        await sleep(toldMs);
        await cluster.disks?.empty(disk);
        // It may have ended when it could not write.
        if (!isRunning(full.child)) await full.restart();
        await cluster.redis.whole();
      };
    }
    case 'redis-stop': {
      const { child } = await cluster.redis.current();
      child.kill('SIGSTOP');
      return () => void child.kill('SIGCONT');
    }
    case 'engine-500':
    case 'engine-401':
    case 'engine-400':
    case 'engine-garbage':
    case 'engine-hang':
    case 'engine-slow':
      engine?.sicken(name.slice('engine-'.length) as Sickness);
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

function linkedOf({ ingresses, workers, runners }: ChaosCluster, name: FaultName): Linked[] {
  if (name.startsWith('ingress')) return ingresses;
  return name.startsWith('runner') ? runners : workers;
}

/**
 * Kills the primary.
 * @returns a function that starts it again, once the other is the primary, and waits until it follows that one
 */
async function failOver(redis: RedisPair): Promise<() => Promise<void>> {
  const killed = await redis.current();
  await killed.kill();
  return async () => {
    await until(async () => (await redis.current()) !== killed, 30_000);
    await killed.restart();
    await redis.whole();
  };
}

/** Returns the milliseconds by which a clock jumps, forward or back: short jumps are as likely as long ones. */
function clockShift(draw: number): number {
  const [minuteMs, times] = [60_000, 360];
  const size = Math.abs(draw - 0.5) * 2;
  return Math.round(Math.sign(draw - 0.5) * minuteMs * times ** size);
}
