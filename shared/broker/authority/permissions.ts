import { tiers, type Tier } from '#shared/core/tier.ts';
import type { Role } from '../connection/credential.ts';
import { createSubjects, type Subjects } from '../contract/subjects.ts';

/** What a user of the broker may publish to and subscribe to; everything else is refused. */
export interface Permissions {
  publish: string[];
  subscribe: string[];
}

/** The least that a part of the cluster needs. */
export function permissionsOf(role: Role, owner: string, prefix: string): Permissions {
  const subjects = createSubjects(prefix);
  switch (role) {
    case 'ingress':
      return ofIngress(subjects, owner);
    case 'runner':
      return ofRunner(subjects, owner);
    default:
      return ofWorker(subjects, role, owner);
  }
}

/**
 * A worker asks for tickets, claims, replies and announces in its owner's name, and receives what is sent to its owner's
 * workers and nothing else. It never speaks to JetStream: see `JetStreamProxy`.
 */
function ofWorker(subjects: Subjects, tier: Tier, owner: string): Permissions {
  const anyOfOwner = { tier, owner, worker: '*' };
  return {
    publish: [
      subjects.pull('*', anyOfOwner),
      subjects.ack('*', anyOfOwner),
      subjects.claim('*', anyOfOwner),
      subjects.lanes(anyOfOwner),
      subjects.heartbeat(anyOfOwner),
      // The grant says which one, and nobody can guess it.
      subjects.allReplies('*'),
    ],
    subscribe: [
      `${subjects.inbox(anyOfOwner)}.>`,
      subjects.cancel(anyOfOwner),
      subjects.retransmit(anyOfOwner),
      subjects.drain(anyOfOwner),
      subjects.announceRequest,
    ],
  };
}

/** An ingress commands workers besides what it dispatches, and says what an administrator has changed. */
function ofIngress(subjects: Subjects, owner: string): Permissions {
  const { publish, subscribe } = ofDispatcher(subjects, `ingress.${owner}`);
  const changes = [subjects.keys, subjects.prices, subjects.registry];
  return { publish: [...publish, `${subjects.prefix}.drain.*.*.*`, ...changes], subscribe };
}

/** A batch runner dispatches, and is told which live requests wait for a slot. */
function ofRunner(subjects: Subjects, owner: string): Permissions {
  const { publish, subscribe } = ofDispatcher(subjects, `runner.${owner}`);
  const { liveJobs, allSlotsWanted } = subjects;
  return { publish: [...publish, allSlotsWanted], subscribe: [...subscribe, ...liveJobs, allSlotsWanted] };
}

/**
 * A part that dispatches makes the queues, fills them, and hands on workers' pulls and acks; it receives from all workers and cancels
 * its jobs. It stores, reads and removes objects.
 * @param inbox the tokens of its inboxes
 */
function ofDispatcher(subjects: Subjects, inbox: string): Permissions {
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
        // Newer servers name domain and account first.
        `$JS.ACK.*.*.${stream}.>`,
      ]),
      ...ofObjects(subjects),
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

/** Storing, reading and removing objects, all in one stream. */
function ofObjects({ objectStream: stream, allObjects }: Subjects): string[] {
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
