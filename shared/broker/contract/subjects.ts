import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';
import { addressTokens, type WorkerAddress } from './worker-address.ts';

/**
 * Maximum characters of a subject that a worker names. A NATS server closes the connection of a publisher whose subjects have more than 4
 * KiB together (`max_control_line`). Here the publisher is the dispatcher that answers at the worker's subject.
 */
export const maxSubjectLength = 512;

/** One queue of the broker: the requests of one class that wait for one pool of interchangeable workers. */
export interface Lane {
  tier: Tier;
  pool: string;
  class: PriorityClass;
}

/**
 * The kind of a frame on a reply subject: data, keep-alive, end, error, refusal. Data, end and error frames are numbered from 0 without
 * a gap. A keep-alive carries the number of the next frame, which shows whether an earlier frame is missing. A refusal means that an
 * offered job has not begun; the worker sends it, or the broker if it finds no worker.
 */
export type FrameKind = 'd' | 'k' | 'e' | 'x' | 'r';

/**
 * Replaces the number in the subject of a frame that carries its number as the message's reply subject. All data frames of a stream then
 * have one subject, and the broker looks up the subscribers once. Such a message cannot be answered, because a number is not a subject of
 * the cluster.
 * See docs/decisions/0041-numbers-beside-subjects.md.
 */
const noNumberToken = '_';

export interface FrameAddress {
  /** The token that the grant carried; no other worker can guess it. */
  grant: string;
  kind: FrameKind;
  seq: number;
}

/**
 * Creates every subject of the cluster under one prefix, so that tests and clusters can share a NATS server.
 *
 * A subject that a worker publishes or subscribes to contains the worker's address (`<tier>.<owner>.<worker>`). The broker checks the
 * address against the worker's credential, so receivers trust the subject, never the message alone. Tokens are made here or validated by
 * a pattern where they enter (worker ids, owners, pools), so none can contain `.`, `*` or `>`.
 *
 * Of each pair, the first names one sender or receiver, and `all…` is what the other side subscribes to.
 */
export function createSubjects(prefix: string) {
  return {
    prefix,

    // ---- the queue: dispatcher → JetStream → worker

    /** The name of the JetStream stream that holds a tier's tickets; not a subject. */
    stream: (tier: Tier) => `${prefix}_JOBS_${tier}`,
    jobsOf: (tier: Tier) => `${prefix}.jobs.${tier}.>`,
    /** A `Ticket` from a dispatcher into a lane. JetStream delivers it to the inbox of a worker's pull. */
    jobs: (lane: Lane) => `${prefix}.jobs.${lane.tier}.${lane.pool}.${lane.class}`,
    /** JetStream's answer to a dispatcher's ticket. The secret is the dispatcher's, so no worker can forge an answer. */
    stored: (secret: string, job: string, ticket: number) => `${prefix}.stored.${secret}.${job}.${ticket}`,
    allStored: (secret: string) => `${prefix}.stored.${secret}.*.*`,

    /** The tickets of all classes but the lowest, which are those of live requests. Batch runners subscribe, see `LiveTicketWatcher`. */
    liveJobs: priorityClasses.slice(0, -1).map((name) => `${prefix}.jobs.*.*.${name}`),
    /**
     * A signal that a live request waits for a slot of a pool. The batch runner that got the request's ticket sends it if it has no slot
     * there. No payload.
     */
    slotsWanted: (tier: string, pool: string) => `${prefix}.slots-wanted.${tier}.${pool}`,
    allSlotsWanted: `${prefix}.slots-wanted.*.*`,

    // ---- the object store: any process that stores or reads an object ↔ JetStream

    /** The name of the JetStream stream that holds stored objects; not a subject. */
    objectStream: `${prefix}_OBJECTS`,
    allObjects: `${prefix}.objects.>`,
    /** A part of an object: a chunk by its number from 0, or `end`, which is stored last and describes the whole object. */
    objectPart: (object: string, part: number | 'end') => `${prefix}.objects.${object}.${part}`,
    objectParts: (object: string) => `${prefix}.objects.${object}.*`,

    // ---- worker → dispatcher

    /**
     * A worker's request for the queues of its pool, because it cannot read them. The payload is the pool's name. One dispatcher makes
     * the queues and answers at the worker's inbox with its own token.
     */
    lanes: (worker: WorkerAddress) => `${prefix}.lanes.${addressTokens(worker)}`,
    allLanes: `${prefix}.lanes.*.*.*`,
    /** A `Pull` for tickets of a lane, to the dispatcher that answered `lanes`. The dispatcher passes the pull on to JetStream. */
    pull: (ingress: string, worker: WorkerAddress) => `${prefix}.pull.${ingress}.${addressTokens(worker)}`,
    allPulls: (ingress: string) => `${prefix}.pull.${ingress}.*.*.*`,
    /** An `Ack` for a ticket that the worker does not claim, to the same dispatcher. The dispatcher passes the ack on to JetStream. */
    ack: (ingress: string, worker: WorkerAddress) => `${prefix}.ack.${ingress}.${addressTokens(worker)}`,
    allAcks: (ingress: string) => `${prefix}.ack.${ingress}.*.*.*`,
    /** A `Claim`, to the dispatcher that a ticket names. The dispatcher answers at the worker's inbox with a `ClaimAnswer`. */
    claim: (ingress: string, worker: WorkerAddress) => `${prefix}.claim.${ingress}.${addressTokens(worker)}`,
    allClaims: (ingress: string) => `${prefix}.claim.${ingress}.*.*.*`,
    /** The subject of a frame before `.<kind>.<number>` or `.<kind>._`, see `subjectWithoutNumber`; the grant carries it to the worker. */
    reply: (ingress: string, grant: string) => `${prefix}.reply.${ingress}.${grant}`,
    /** The wildcards stand for the grant, the kind, and the number or `_`. */
    allReplies: (ingress: string) => `${prefix}.reply.${ingress}.*.*.*`,
    /**
     * An `Announcement`, on change and on request; each second a short heartbeat (`ShortHeartbeat`) or an announcement; or `goodbye`. Every
     * dispatcher subscribes.
     */
    heartbeat: (worker: WorkerAddress) => `${prefix}.heartbeat.${addressTokens(worker)}`,
    allHeartbeats: `${prefix}.heartbeat.*.*.*`,

    // ---- dispatcher → worker

    /** Cancels a job. The payload is the reply subject of its grant. */
    cancel: (worker: WorkerAddress) => `${prefix}.cancel.${addressTokens(worker)}`,
    /**
     * Requests frames that did not arrive, with the payload `<reply subject> <number of the first>`, or the announcement, with the payload
     * `announceAgain`.
     */
    retransmit: (worker: WorkerAddress) => `${prefix}.retransmit.${addressTokens(worker)}`,
    /** An operator's command, `drain` or `undrain`. A drained worker takes no new jobs. */
    drain: (worker: WorkerAddress) => `${prefix}.drain.${addressTokens(worker)}`,
    /** The prefix of all subjects at which a worker gets answers: tickets, answers to pulls, claims and keep-alives, and offers. */
    inbox: (worker: WorkerAddress) => `${prefix}.inbox.${addressTokens(worker)}`,
    allInboxes: `${prefix}.inbox.`,
    /** An `AnnounceRequest` from a dispatcher to every worker: to announce itself, or to send short heartbeats. */
    announceRequest: `${prefix}.announce`,

    // ---- dispatcher → dispatcher

    /** A key change, from the process that changed the key to every dispatcher, see `announceKeyChange`. */
    keys: `${prefix}.keys`,
    /** A price change, from the process that changed the price to every dispatcher; no payload. */
    prices: `${prefix}.prices`,
    /** A change of the stored registry, from the ingress where it was edited to every process that serves requests; no payload. */
    registry: `${prefix}.registry`,
    /**
     * The `IngressStats` of an ingress, every second, and of a batch runner while its work waits for workers. Every dispatcher
     * subscribes.
     */
    ingressStats: (ingress: string) => `${prefix}.ingress-stats.${ingress}`,
    /**
     * The digest of a body on which two workers have died, from one dispatcher to all, see `RefusedBodies`. The subject is one of the
     * stats' subjects because every dispatcher may publish and subscribe to these; as stats, the message cannot be parsed.
     */
    refusedBodies: `${prefix}.ingress-stats.refused-bodies`,
    allIngressStats: `${prefix}.ingress-stats.*`,
  };
}

export type Subjects = ReturnType<typeof createSubjects>;

/** Returns the name of a lane's durable consumer, unique within its tier's stream. */
export function consumerName(lane: Pick<Lane, 'pool' | 'class'>): string {
  return `${lane.pool}_${lane.class}`;
}

/**
 * Returns the one subject of all frames of a kind of one grant. Each frame carries its number as the message's reply subject.
 */
export function subjectWithoutNumber(reply: string, kind: FrameKind): string {
  return `${reply}.${kind}.${noNumberToken}`;
}

/**
 * Parses a frame's subject.
 * @param rest `<grant>.<kind>.<number>` or `<grant>.<kind>._`, the part after the dispatcher's own prefix
 * @param message carries the number in the second case
 * @returns undefined for a subject that is no frame's, and for a frame without a valid number
 */
export function parseFrameAddress(rest: string, message: { readonly reply?: string }): FrameAddress | undefined {
  // This is the hot path, and `split` takes twice as long.
  const end = rest.indexOf('.');
  const kind = rest[end + 1];
  if (end < 1 || !isFrameKind(kind) || rest[end + 2] !== '.') return undefined;
  const token = rest.slice(end + 3);
  const number = token === noNumberToken ? message.reply : token;
  const seq = number ? Number(number) : Number.NaN;
  return Number.isInteger(seq) ? { grant: rest.slice(0, end), kind, seq } : undefined;
}

/**
 * Whether the reply subject that a worker names is in the worker's own inbox. The broker lets a worker name any reply subject, and a
 * dispatcher may publish where a worker may not.
 */
export function isOwnInbox(subjects: Subjects, worker: WorkerAddress | undefined, replyTo: string): boolean {
  return worker !== undefined && replyTo.length <= maxSubjectLength && replyTo.startsWith(`${subjects.inbox(worker)}.`);
}

/**
 * Whether two subjects in a worker's inboxes belong to the same process. Each process has an inbox of its own.
 * @param worker the worker that owns both inboxes, see `isOwnInbox`
 */
export function belongToSameProcess(subjects: Subjects, worker: WorkerAddress, one: string, other: string): boolean {
  const { length } = `${subjects.inbox(worker)}.`;
  return one.slice(length).split('.', 1)[0] === other.slice(length).split('.', 1)[0];
}

/** Returns the last token of a reply subject, which is the grant. A worker finds its jobs by it. */
export function parseGrant(reply: string): string {
  return reply.slice(reply.lastIndexOf('.') + 1);
}

/** Returns the token before the grant, which names the dispatcher that made the grant. */
export function parseDispatcher(reply: string): string {
  return reply.split('.').at(-2) ?? '';
}

function isFrameKind(kind: string | undefined): kind is FrameKind {
  return kind === 'd' || kind === 'k' || kind === 'e' || kind === 'x' || kind === 'r';
}

export function isPriorityClass(value: string): value is PriorityClass {
  return priorityClasses.some((name) => name === value);
}
