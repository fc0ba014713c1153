import { tiers, type Tier } from '#shared/core/tier.ts';
import type { Role } from '../connection/credential.ts';
import { createSubjects, type Subjects } from '../contract/subjects.ts';

/** The subjects that a user of the broker may publish and subscribe to. The broker refuses all others. */
export interface Permissions {
  publish: string[];
  subscribe: string[];
  /** Subjects that are excluded from `subscribe`. */
  neverSubscribe?: string[];
  /** Maximum subscriptions of a connection. Absent: the server's limit applies. */
  maxSubscriptions?: number;
}

/**
 * Maximum subscriptions of a worker; an honest worker has five. Each costs the server up to 17 KiB, the cost of the longest subject. With
 * this limit, all connections that the server accepts fit into its memory.
 */
const maxWorkerSubscriptions = 10;

export function derivePermissions(role: Role, owner: string, prefix: string): Permissions {
  const subjects = createSubjects(prefix);
  switch (role) {
    case 'ingress':
      return ingressPermissions(subjects, owner);
    case 'runner':
      return runnerPermissions(subjects, owner);
    default:
      return workerPermissions(subjects, role, owner);
  }
}

/**
 * A worker requests tickets, claims, replies and announces itself in its owner's name. It receives only messages for its owner's workers
 * and never uses JetStream itself, see `JetStreamProxy`. Its inboxes have six tokens. The server refuses subscriptions of more than nine
 * tokens, because one of two thousand tokens would cost it almost a mebibyte.
 */
function workerPermissions(subjects: Subjects, tier: Tier, owner: string): Permissions {
  const anyOfOwner = { tier, owner, worker: '*' };
  return {
    publish: [
      subjects.pull('*', anyOfOwner),
      subjects.ack('*', anyOfOwner),
      subjects.claim('*', anyOfOwner),
      subjects.lanes(anyOfOwner),
      subjects.heartbeat(anyOfOwner),
      // The grant names the reply subject, which no other worker can guess.
      subjects.allReplies('*'),
    ],
    subscribe: [
      `${subjects.inbox(anyOfOwner)}.>`,
      subjects.cancel(anyOfOwner),
      subjects.retransmit(anyOfOwner),
      subjects.drain(anyOfOwner),
      subjects.announceRequest,
    ],
    neverSubscribe: [`${subjects.inbox(anyOfOwner)}.*.*.*.*.>`],
    maxSubscriptions: maxWorkerSubscriptions,
  };
}

/** An ingress has the permissions of a dispatcher. It also drains workers and publishes the changes that an administrator makes. */
function ingressPermissions(subjects: Subjects, owner: string): Permissions {
  const { publish, subscribe } = dispatcherPermissions(subjects, `ingress.${owner}`);
  const changes = [subjects.keys, subjects.prices, subjects.registry];
  return { publish: [...publish, `${subjects.prefix}.drain.*.*.*`, ...changes], subscribe };
}

/** A batch runner has the permissions of a dispatcher. It also gets notice of live requests that wait for a slot. */
function runnerPermissions(subjects: Subjects, owner: string): Permissions {
  const { publish, subscribe } = dispatcherPermissions(subjects, `runner.${owner}`);
  const { liveJobs, allSlotsWanted } = subjects;
  return { publish: [...publish, allSlotsWanted], subscribe: [...subscribe, ...liveJobs, allSlotsWanted] };
}

/**
 * A dispatcher makes and fills the queues, passes workers' pulls and acks on, receives from all workers and cancels its jobs. It stores,
 * reads and deletes objects.
 * @param inbox the tokens of its inboxes
 */
function dispatcherPermissions(subjects: Subjects, inbox: string): Permissions {
  const streams = tiers.map((tier) => subjects.stream(tier));
  const anyWorker = ['cancel', 'retransmit'].map((what) => `${subjects.prefix}.${what}.*.*.*`);
  return {
    publish: [
      ...streams.flatMap((stream) => [
        `$JS.API.STREAM.INFO.${stream}`,
        `$JS.API.STREAM.CREATE.${stream}`,
        `$JS.API.STREAM.UPDATE.${stream}`,
        `$JS.API.CONSUMER.CREATE.${stream}.>`,
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
        `$JS.ACK.${stream}.>`,
        // Newer servers put domain and account first.
        `$JS.ACK.*.*.${stream}.>`,
      ]),
      ...objectPermissions(subjects),
      `${subjects.prefix}.jobs.*.*.*`,
      `${subjects.allInboxes}*.*.*.>`,
      ...anyWorker,
      subjects.announceRequest,
      subjects.allIngressStats,
    ],
    subscribe: [
      subjects.allHeartbeats,
      subjects.allLanes,
      subjects.allPulls('*'),
      subjects.allAcks('*'),
      subjects.allClaims('*'),
      subjects.allReplies('*'),
      subjects.allStored('*'),
      subjects.keys,
      subjects.prices,
      subjects.registry,
      subjects.allIngressStats,
      `${subjects.allInboxes}${inbox}.>`,
    ],
  };
}

function objectPermissions({ objectStream: stream, allObjects }: Subjects): string[] {
  return [
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.STREAM.CREATE.${stream}`,
    `$JS.API.STREAM.UPDATE.${stream}`,
    `$JS.API.STREAM.PURGE.${stream}`,
    `$JS.API.STREAM.MSG.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}.>`,
    allObjects,
  ];
}
