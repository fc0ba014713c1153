import type { UserPermissionsLimits } from '@nats-io/jwt';
import { createHash } from 'node:crypto';
import { tiers } from '#shared/core/tier.ts';
import { roles, type Role } from '../connection/credential.ts';
import { createSubjects, type Subjects } from '../contract/subjects.ts';
import type { WorkerAddress } from '../contract/worker-address.ts';

/** The subjects to which the processes with a credential may publish and subscribe. The broker refuses all other subjects. */
export interface Permissions {
  publish: string[];
  subscribe: string[];
  /** Subjects that are excluded from `subscribe`. */
  neverSubscribe?: string[];
  /** Maximum subscriptions of a connection. Absent: the server's limit applies. */
  maxSubscriptions?: number;
}

/**
 * Maximum subscriptions of a worker; a worker of this release has five. A subscription whose subject has the maximum length costs the
 * server up to 17 KiB. With this limit, the subscriptions of all accepted connections fit into the server's memory.
 */
const maxWorkerSubscriptions = 10;

/**
 * Stands for the public key of a user in the permissions of a shared credential. The server replaces it after the user has proven that it
 * has this key.
 */
export const userKeyTemplate = '{{subject()}}';

/**
 * Derives the permissions of a credential from its role and name.
 * @param process the last token of the worker's address: `*` for all processes, or `userKeyTemplate` for only the process that has signed
 * the user
 */
export function derivePermissions(role: Role, credentialName: string, prefix: string, process = '*'): Permissions {
  const subjects = createSubjects(prefix);
  switch (role) {
    case 'ingress':
      return listIngressPermissions(subjects, credentialName);
    case 'runner':
      return listRunnerPermissions(subjects, credentialName);
    default:
      return listWorkerPermissions(subjects, { tier: role, credentialName, worker: '*', process });
  }
}

/** Returns a digest of the permissions of all roles, which differs between releases whose credentials have different permissions. */
export function digestPermissions(prefix: string): string {
  const limits = roles.map((role) => toUserLimits(derivePermissions(role, 'name', prefix)));
  return createHash('sha256').update(JSON.stringify(limits)).digest('base64url');
}

/** Converts permissions to the permissions and limits of a NATS user. */
export function toUserLimits(permissions: Permissions): Partial<UserPermissionsLimits> {
  const { publish, subscribe, neverSubscribe, maxSubscriptions } = permissions;
  return {
    pub: { allow: publish },
    sub: { allow: subscribe, ...(neverSubscribe && { deny: neverSubscribe }) },
    ...(maxSubscriptions !== undefined && { subs: maxSubscriptions }),
    allowed_connection_types: ['STANDARD', 'WEBSOCKET'],
  };
}

/**
 * Lists the permissions of a worker. A worker pulls tickets, claims jobs and announces itself only at subjects with its credential's name.
 * It receives only messages for the workers of its credential or, with a shared credential, for its own process. It never uses JetStream
 * itself, see `JetStreamProxy`. The subjects of its inboxes begin with six tokens. The server refuses inboxes of more than nine tokens,
 * because a subscription of two thousand tokens would cost it almost a mebibyte.
 */
function listWorkerPermissions(subjects: Subjects, anyWorker: WorkerAddress): Permissions {
  return {
    publish: [
      subjects.pull('*', anyWorker),
      subjects.ack('*', anyWorker),
      subjects.claim('*', anyWorker),
      subjects.lanes(anyWorker),
      subjects.heartbeat(anyWorker),
      // The grant names the reply subject, which no other worker can guess.
      subjects.allReplies('*'),
    ],
    subscribe: [
      `${subjects.inbox(anyWorker)}.>`,
      subjects.cancel(anyWorker),
      subjects.retransmit(anyWorker),
      subjects.drain(anyWorker),
      subjects.announceRequest,
    ],
    neverSubscribe: [`${subjects.inbox(anyWorker)}.*.*.*.>`],
    maxSubscriptions: maxWorkerSubscriptions,
  };
}

/** An ingress has the permissions of a dispatcher. It also drains workers and publishes the changes that an administrator makes. */
function listIngressPermissions(subjects: Subjects, credentialName: string): Permissions {
  const { publish, subscribe } = listDispatcherPermissions(subjects, `ingress.${credentialName}`);
  const changes = [subjects.keys, subjects.prices, subjects.registry];
  return { publish: [...publish, `${subjects.prefix}.drain.*.*.*.*`, ...changes], subscribe };
}

/**
 * A batch runner has the permissions of a dispatcher. It also receives the tickets of live requests, and sends and receives the signal that
 * a live request waits for a slot.
 */
function listRunnerPermissions(subjects: Subjects, credentialName: string): Permissions {
  const { publish, subscribe } = listDispatcherPermissions(subjects, `runner.${credentialName}`);
  const { liveJobs, allSlotsWanted } = subjects;
  return { publish: [...publish, allSlotsWanted], subscribe: [...subscribe, ...liveJobs, allSlotsWanted] };
}

/**
 * Lists the permissions of a dispatcher. A dispatcher makes and fills the lanes, passes on workers' pulls and acks, receives messages from
 * all workers, and cancels its jobs. It stores, reads and deletes objects.
 * @param inbox the tokens of its own inboxes, after the common prefix
 */
function listDispatcherPermissions(subjects: Subjects, inbox: string): Permissions {
  const streams = tiers.map((tier) => subjects.stream(tier));
  const anyWorker = ['cancel', 'retransmit'].map((command) => `${subjects.prefix}.${command}.*.*.*.*`);
  return {
    publish: [
      ...streams.flatMap((stream) => [
        `$JS.API.STREAM.INFO.${stream}`,
        `$JS.API.STREAM.CREATE.${stream}`,
        `$JS.API.STREAM.UPDATE.${stream}`,
        `$JS.API.CONSUMER.CREATE.${stream}.>`,
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
        `$JS.ACK.${stream}.>`,
        // Newer servers put the domain and the account before the stream.
        `$JS.ACK.*.*.${stream}.>`,
      ]),
      ...listObjectPermissions(subjects),
      `${subjects.prefix}.jobs.*.*.*`,
      `${subjects.inboxPrefix}*.*.*.*.>`,
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
      subjects.allTicketAnswers('*'),
      subjects.keys,
      subjects.prices,
      subjects.registry,
      subjects.allIngressStats,
      `${subjects.inboxPrefix}${inbox}.>`,
    ],
  };
}

function listObjectPermissions({ objectStream: stream, allObjects }: Subjects): string[] {
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
