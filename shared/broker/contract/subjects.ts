import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';
import { addressTokens, type WorkerAddress } from './worker-address.ts';

/**
 * Characters of a subject that a worker names, at most. A server of NATS closes the connection of whoever publishes with subjects of more
 * than 4 KiB together (`max_control_line`), which is the ingress that answers there.
 */
export const maxSubjectLength = 512;

/** One queue of the broker: the requests of one class that wait for one pool of interchangeable workers. */
export interface Lane {
  tier: Tier;
  pool: string;
  class: PriorityClass;
}

/**
 * What a frame on a reply subject is: data, keep-alive, end, error, refusal. Data, end and error are numbered from 0
 * without a gap; a keep-alive carries the number of the next one, so that it shows whether a frame is missing before
 * it. A refusal, by the worker or by a broker that finds no worker, says that an offered job has not begun.
 */
export type FrameKind = 'd' | 'k' | 'e' | 'x' | 'r';

/**
 * Stands for the number in the subject of a frame whose number is where a message names who is to be answered. A stream's frames
 * have one subject then, and the broker finds out once who receives them. Nobody may answer such a message: a number is no subject
 * of the cluster.
 * See docs/decisions/0041-numbers-beside-subjects.md.
 */
const numberBeside = '_';

/** A frame's subject and number, taken apart. */
export interface FrameAddress {
  /** The token that the grant carried: only the worker that got it can know it. */
  grant: string;
  kind: FrameKind;
  seq: number;
}

/**
 * Every subject of the cluster, under one prefix, so that tests and clusters can share a NATS server.
 *
 * A subject that a worker publishes or subscribes to has its address in it (`<tier>.<owner>.<worker>`), which the broker
 * checks against its credential: receivers believe the subject, never the message alone. Tokens are made here or checked
 * by a pattern where they enter (worker ids, owners, pools), so that none can hold `.`, `*` or `>`.
 *
 * Of each pair, the first names one sender or receiver, and `all…` is what the other side subscribes to.
 */
export function createSubjects(prefix: string) {
  return {
    prefix,

    // ---- the queue: ingress → JetStream → worker

    /** The JetStream stream that holds a tier's tickets. No subject, but a name. */
    stream: (tier: Tier) => `${prefix}_JOBS_${tier}`,
    /** The subjects of a tier's stream. */
    jobsOf: (tier: Tier) => `${prefix}.jobs.${tier}.>`,
    /** A ticket, `Ticket`, from an ingress into a lane. JetStream delivers it to the inbox of a worker's pull. */
    jobs: (lane: Lane) => `${prefix}.jobs.${lane.tier}.${lane.pool}.${lane.class}`,
    /** JetStream's answer to an ingress's ticket. The secret is the ingress's: no worker can forge an answer. */
    stored: (secret: string, job: string, ticket: number) => `${prefix}.stored.${secret}.${job}.${ticket}`,
    allStored: (secret: string) => `${prefix}.stored.${secret}.*.*`,

    /** The tickets of all classes but the lowest: those of live requests. Batch runners listen, see `LiveTickets`. */
    liveJobs: priorityClasses.slice(0, -1).map((name) => `${prefix}.jobs.*.*.${name}`),
    /** A live request waits for a slot of a pool, and the batch runner that got its ticket has none there; no payload. */
    slotsWanted: (tier: string, pool: string) => `${prefix}.slots-wanted.${tier}.${pool}`,
    allSlotsWanted: `${prefix}.slots-wanted.*.*`,

    // ---- the store of objects: whoever stores or reads one ↔ JetStream

    /** The JetStream stream that holds stored objects. No subject, but a name. */
    objectStream: `${prefix}_OBJECTS`,
    /** The subjects of that stream. */
    allObjects: `${prefix}.objects.>`,
    /** A part of an object: a chunk, by its number from 0 on, or `end`, which is stored last and describes the whole. */
    objectPart: (object: string, part: number | 'end') => `${prefix}.objects.${object}.${part}`,
    /** All parts of one object. */
    objectParts: (object: string) => `${prefix}.objects.${object}.*`,

    // ---- worker → ingress

    /**
     * A worker asks for the queues of its pool, whose name is the payload, because they cannot be read. One ingress makes them
     * and answers at the worker's inbox with its own token.
     */
    lanes: (worker: WorkerAddress) => `${prefix}.lanes.${addressTokens(worker)}`,
    allLanes: `${prefix}.lanes.*.*.*`,
    /** A `Pull` for tickets of a lane, to the ingress that answered `lanes`. It hands the pull on to JetStream. */
    pull: (ingress: string, worker: WorkerAddress) => `${prefix}.pull.${ingress}.${addressTokens(worker)}`,
    allPulls: (ingress: string) => `${prefix}.pull.${ingress}.*.*.*`,
    /** An `Ack` for a ticket that the worker does not claim, to the same ingress. It hands the ack on to JetStream. */
    ack: (ingress: string, worker: WorkerAddress) => `${prefix}.ack.${ingress}.${addressTokens(worker)}`,
    allAcks: (ingress: string) => `${prefix}.ack.${ingress}.*.*.*`,
    /** A `Claim`, to the ingress that a ticket names. It answers at the worker's inbox with a `ClaimAnswer`. */
    claim: (ingress: string, worker: WorkerAddress) => `${prefix}.claim.${ingress}.${addressTokens(worker)}`,
    allClaims: (ingress: string) => `${prefix}.claim.${ingress}.*.*.*`,
    /** A frame's subject before `.<kind>.<number>` or `.<kind>._`, see `numberedBeside`; the grant carries it to the worker. */
    reply: (ingress: string, grant: string) => `${prefix}.reply.${ingress}.${grant}`,
    /** Its wildcards stand for grant, kind and number, or what stands for it. */
    allReplies: (ingress: string) => `${prefix}.reply.${ingress}.*.*.*`,
    /** An `Announcement`, on change and on request; each second a `Beat` or an announcement; or `goodbye`. Every ingress subscribes. */
    heartbeat: (worker: WorkerAddress) => `${prefix}.heartbeat.${addressTokens(worker)}`,
    allHeartbeats: `${prefix}.heartbeat.*.*.*`,

    // ---- ingress → worker

    /** Cancels a job. The payload is the reply subject of its grant. */
    cancel: (worker: WorkerAddress) => `${prefix}.cancel.${addressTokens(worker)}`,
    /** Asks for what did not arrive: frames, `<reply subject> <number of the first>`, or its announcement, `announceAgain`. */
    retransmit: (worker: WorkerAddress) => `${prefix}.retransmit.${addressTokens(worker)}`,
    /** An operator's command, `drain` or `undrain`: a drained worker takes nothing new. */
    drain: (worker: WorkerAddress) => `${prefix}.drain.${addressTokens(worker)}`,
    /** Before everything that answers a worker: tickets, answers to pulls, claims and keep-alives, and offers. */
    inbox: (worker: WorkerAddress) => `${prefix}.inbox.${addressTokens(worker)}`,
    allInboxes: `${prefix}.inbox.`,
    /** An `AnnounceRequest` to every worker: to announce itself, or to send beats. From an ingress. */
    announceRequest: `${prefix}.announce`,

    // ---- ingress → ingress

    /** A key change, from whoever changed it to every ingress, see `announceKeyChange`. */
    keys: `${prefix}.keys`,
    /** A price change, from whoever changed it to every ingress; no payload. */
    prices: `${prefix}.prices`,
    /** A change of the stored registry, from the ingress where it was edited to every part that serves requests; no payload. */
    registry: `${prefix}.registry`,
    /** The `IngressStats` of an ingress, every second, and of a batch runner where work waits for workers; every ingress subscribes. */
    ingressStats: (ingress: string) => `${prefix}.ingress-stats.${ingress}`,
    /**
     * The digest of a body that two workers have died on, from one ingress to all, see `RefusedBodies`. Among the stats, which
     * every ingress may publish and subscribe to; as stats it cannot be read.
     */
    refusedBodies: `${prefix}.ingress-stats.refused-bodies`,
    allIngressStats: `${prefix}.ingress-stats.*`,
  };
}

export type Subjects = ReturnType<typeof createSubjects>;

/** A lane's durable consumer name, unique within its tier's stream. */
export function consumerName(lane: Pick<Lane, 'pool' | 'class'>): string {
  return `${lane.pool}_${lane.class}`;
}

/**
 * The one subject of a grant's frames of a kind, each of which is sent with its number as the subject to be answered at. Only to an
 * ingress that has said so in the grant, see `Grant.numbersBeside`.
 */
export function numberedBeside(reply: string, kind: FrameKind): string {
  return `${reply}.${kind}.${numberBeside}`;
}

/**
 * Takes a frame's subject apart.
 * @param rest `<grant>.<kind>.<number>` or `<grant>.<kind>._`, the part after the ingress's own prefix
 * @param message where the number is in the second case
 * @returns undefined for what is no frame, as one without a number that can be read
 */
export function parseFrameAddress(rest: string, message: { readonly reply?: string }): FrameAddress | undefined {
  // This is the hot path: `split` takes twice as long.
  const end = rest.indexOf('.');
  const kind = rest[end + 1];
  if (end < 1 || !isFrameKind(kind) || rest[end + 2] !== '.') return undefined;
  const token = rest.slice(end + 3);
  const number = token === numberBeside ? message.reply : token;
  const seq = number ? Number(number) : Number.NaN;
  return Number.isInteger(seq) ? { grant: rest.slice(0, end), kind, seq } : undefined;
}

/**
 * Whether a subject that a worker wants to be answered at is its own. The broker lets it name any, and an ingress may
 * publish where a worker may not.
 */
export function isInboxOf(subjects: Subjects, worker: WorkerAddress | undefined, replyTo: string): boolean {
  return worker !== undefined && replyTo.length <= maxSubjectLength && replyTo.startsWith(`${subjects.inbox(worker)}.`);
}

/**
 * Whether two subjects in inboxes of a worker belong to the same process: each has an inbox of its own.
 * @param worker whose inboxes they are in, see `isInboxOf`
 */
export function areOfOneProcess(subjects: Subjects, worker: WorkerAddress, one: string, other: string): boolean {
  const { length } = `${subjects.inbox(worker)}.`;
  return one.slice(length).split('.', 1)[0] === other.slice(length).split('.', 1)[0];
}

/** The last token of a reply subject, its grant: a worker's key for its jobs. */
export function grantOf(reply: string): string {
  return reply.slice(reply.lastIndexOf('.') + 1);
}

/** The token before it: the ingress that made the grant. */
export function ingressOf(reply: string): string {
  return reply.split('.').at(-2) ?? '';
}

function isFrameKind(kind: string | undefined): kind is FrameKind {
  return kind === 'd' || kind === 'k' || kind === 'e' || kind === 'x' || kind === 'r';
}

export function isPriorityClass(value: string): value is PriorityClass {
  return priorityClasses.some((name) => name === value);
}
