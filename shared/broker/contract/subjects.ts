import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';
import { formatAddress, type WorkerAddress } from './worker-address.ts';

/**
 * Maximum characters of a subject that a worker names. A NATS server closes the connection of a publisher if the subjects of one message
 * have more than 4 KiB together (`max_control_line`), and the dispatcher publishes at the worker's subject.
 */
export const maxSubjectLength = 512;

/** One queue of the broker: the requests of one class that wait for one pool of interchangeable workers. */
export interface Lane {
  tier: Tier;
  pool: string;
  class: PriorityClass;
}

/**
 * The kind of a frame, as a token of its subject: data (`d`), keep-alive (`k`), end (`e`), error (`x`), refusal (`r`). Data, end and error
 * frames are numbered from 0 without a gap. A keep-alive has the number of the next frame, which shows whether an earlier frame is missing.
 * A refusal means that an offered job has not begun. The worker sends it, or the broker if the worker has no subscription.
 */
export type FrameKind = 'd' | 'k' | 'e' | 'x' | 'r';

/**
 * Replaces the number in the subject of a data frame. The number is the reply subject of the message instead. So all data frames of a
 * stream have one subject, and the broker looks up the subscribers once. Nobody can answer such a message, because a number is not a
 * subject of the cluster.
 * See docs/decisions/0041-numbers-beside-subjects.md.
 */
const noNumberToken = '_';

/** The parts of a frame's subject. */
export interface FrameAddress {
  /** The token that the job's grant contained. No other worker can guess it. */
  grant: string;
  kind: FrameKind;
  seq: number;
}

/**
 * Creates every subject of the cluster under one prefix, so that tests and clusters can share a NATS server.
 *
 * A subject that a worker publishes or subscribes to contains the worker's address (`<tier>.<credential>.<worker>.<process>`). The broker
 * checks the address against the worker's credential, so receivers trust the subject, never the message alone. Tokens are made here, or
 * validated by a pattern where they enter (ids of workers, names of credentials and pools), so no token can contain `.`, `*` or `>`.
 *
 * Many subjects come in pairs. The first of a pair names one sender or receiver. The second, `all…`, is the subject to which the other side
 * subscribes.
 */
export function createSubjects(prefix: string) {
  return {
    prefix,

    // ---- the queue: dispatcher → JetStream → worker

    /** The name of the JetStream stream that holds a tier's tickets; not a subject. */
    stream: (tier: Tier) => `${prefix}_JOBS_${tier}`,
    /** The subjects of all lanes of a tier. */
    jobsOf: (tier: Tier) => `${prefix}.jobs.${tier}.>`,
    /** A `Ticket` from a dispatcher into a lane. JetStream delivers it to the inbox of a worker's pull. */
    jobs: (lane: Lane) => `${prefix}.jobs.${lane.tier}.${lane.pool}.${lane.class}`,
    /** JetStream's answer to a published ticket. Only the dispatcher knows the secret, so no worker can forge an answer. */
    ticketAnswer: (secret: string, job: string, ticket: number) => `${prefix}.stored.${secret}.${job}.${ticket}`,
    allTicketAnswers: (secret: string) => `${prefix}.stored.${secret}.*.*`,

    /** The tickets of live requests, which have any class but the lowest. Batch runners subscribe, see `LiveTicketWatcher`. */
    liveJobs: priorityClasses.slice(0, -1).map((name) => `${prefix}.jobs.*.*.${name}`),
    /**
     * A signal that a live request waits for a slot of a pool. The batch runner that got the request's ticket sends the signal if it cannot
     * free a slot of that pool. No payload.
     */
    slotsWanted: (tier: string, pool: string) => `${prefix}.slots-wanted.${tier}.${pool}`,
    allSlotsWanted: `${prefix}.slots-wanted.*.*`,

    // ---- the object store: any process that stores or reads an object ↔ JetStream

    /** The name of the JetStream stream that holds stored objects; not a subject. */
    objectStream: `${prefix}_OBJECTS`,
    allObjects: `${prefix}.objects.>`,
    /** A part of an object: a chunk, numbered from 0, or `end`, which is stored last and describes the whole object. */
    objectPart: (object: string, part: number | 'end') => `${prefix}.objects.${object}.${part}`,
    objectParts: (object: string) => `${prefix}.objects.${object}.*`,

    // ---- worker → dispatcher

    /**
     * A worker's request to make the lanes of its pool, because a worker may not make them itself. The payload is the pool's name. One
     * dispatcher makes the lanes and answers at the worker's inbox with the dispatcher's own name.
     */
    lanes: (worker: WorkerAddress) => `${prefix}.lanes.${formatAddress(worker)}`,
    allLanes: `${prefix}.lanes.*.*.*.*`,
    /** A `Pull` for tickets of a lane, to the dispatcher that answered `lanes`. The dispatcher passes the pull on to JetStream. */
    pull: (ingress: string, worker: WorkerAddress) => `${prefix}.pull.${ingress}.${formatAddress(worker)}`,
    allPulls: (ingress: string) => `${prefix}.pull.${ingress}.*.*.*.*`,
    /** An `Ack` for a ticket that the worker does not claim, to the same dispatcher. The dispatcher passes the ack on to JetStream. */
    ack: (ingress: string, worker: WorkerAddress) => `${prefix}.ack.${ingress}.${formatAddress(worker)}`,
    allAcks: (ingress: string) => `${prefix}.ack.${ingress}.*.*.*.*`,
    /** A `Claim`, to the dispatcher that a ticket names. The dispatcher answers at the worker's inbox with a `ClaimAnswer`. */
    claim: (ingress: string, worker: WorkerAddress) => `${prefix}.claim.${ingress}.${formatAddress(worker)}`,
    allClaims: (ingress: string) => `${prefix}.claim.${ingress}.*.*.*.*`,
    /** The beginning of a frame's subject, before `.<kind>.<number>` or `.<kind>._` (see `formatUnnumberedSubject`). The grant contains it. */
    reply: (ingress: string, grant: string) => `${prefix}.reply.${ingress}.${grant}`,
    /** The wildcards stand for the grant's token, the frame's kind, and the number or `_`. */
    allReplies: (ingress: string) => `${prefix}.reply.${ingress}.*.*.*`,
    /**
     * An `Announcement`, on change and on request; a short heartbeat (`ShortHeartbeat`) each second; at the end `goodbye`. Every dispatcher
     * subscribes.
     */
    heartbeat: (worker: WorkerAddress) => `${prefix}.heartbeat.${formatAddress(worker)}`,
    allHeartbeats: `${prefix}.heartbeat.*.*.*.*`,

    // ---- dispatcher → worker

    /** Cancels a job. The payload is the reply subject of its grant. */
    cancel: (worker: WorkerAddress) => `${prefix}.cancel.${formatAddress(worker)}`,
    /**
     * Requests frames or the announcement of a worker. The payload `<reply subject> <number>` requests the frames from this number on; the
     * payload `announceAgainPayload` requests the announcement.
     */
    retransmit: (worker: WorkerAddress) => `${prefix}.retransmit.${formatAddress(worker)}`,
    /** An operator's command, `drain` or `undrain`. A drained worker takes no new jobs. */
    drain: (worker: WorkerAddress) => `${prefix}.drain.${formatAddress(worker)}`,
    /** The beginning of all subjects at which a worker gets tickets, offers, and answers to pulls, claims and keep-alives. */
    inbox: (worker: WorkerAddress) => `${prefix}.inbox.${formatAddress(worker)}`,
    /** The beginning of all inboxes of all processes. */
    inboxPrefix: `${prefix}.inbox.`,
    /** An `AnnounceRequest` from a dispatcher to every worker. */
    announceRequest: `${prefix}.announce`,

    // ---- dispatcher → dispatcher

    /** A key change, from the process that changed the key to every dispatcher, see `announceKeyChange`. */
    keys: `${prefix}.keys`,
    /** A price change, from the process that changed the price to every dispatcher; no payload. */
    prices: `${prefix}.prices`,
    /** A change of the stored registry, from the ingress where it was edited to every process that serves requests; no payload. */
    registry: `${prefix}.registry`,
    /**
     * The `IngressStats` of a dispatcher. An ingress sends them every second, a batch runner only while its jobs wait for workers. Every
     * dispatcher subscribes.
     */
    ingressStats: (ingress: string) => `${prefix}.ingress-stats.${ingress}`,
    /**
     * The digest of a body on which two workers have died, from one dispatcher to all, see `RefusedBodies`. The subject matches
     * `allIngressStats`, to which every dispatcher may publish and subscribe. Readers of stats skip the message, because they cannot parse
     * it.
     */
    refusedBodies: `${prefix}.ingress-stats.refused-bodies`,
    allIngressStats: `${prefix}.ingress-stats.*`,
  };
}

export type Subjects = ReturnType<typeof createSubjects>;

/** Returns the name of a lane's durable consumer, unique within its tier's stream. */
export function formatConsumerName(lane: Pick<Lane, 'pool' | 'class'>): string {
  return `${lane.pool}_${lane.class}`;
}

/** Returns the subject that all frames of one kind and one grant share. Each frame carries its number as the message's reply subject. */
export function formatUnnumberedSubject(reply: string, kind: FrameKind): string {
  return `${reply}.${kind}.${noNumberToken}`;
}

/**
 * Parses a frame's subject.
 * @param rest the part of the subject after the dispatcher's own prefix: `<grant>.<kind>.<number>` or `<grant>.<kind>._`
 * @param message the frame's message, whose reply subject is the number if the subject ends with `_`
 * @returns undefined if it is not the subject of a frame, or there is no valid number
 */
export function parseFrameAddress(rest: string, message: { readonly reply?: string }): FrameAddress | undefined {
  // `split` would take twice as long, and this function is called for every frame.
  const end = rest.indexOf('.');
  const kind = rest[end + 1];
  if (end < 1 || !isFrameKind(kind) || rest[end + 2] !== '.') return undefined;
  const token = rest.slice(end + 3);
  const number = token === noNumberToken ? message.reply : token;
  const seq = number ? Number(number) : Number.NaN;
  return Number.isInteger(seq) ? { grant: rest.slice(0, end), kind, seq } : undefined;
}

/**
 * Whether the reply subject that a worker names is in the worker's own inbox. This must be checked, because the broker lets a worker name
 * any reply subject, and a dispatcher may publish where the worker may not.
 */
export function isOwnInbox(subjects: Subjects, worker: WorkerAddress | undefined, replyTo: string): boolean {
  return worker !== undefined && replyTo.length <= maxSubjectLength && replyTo.startsWith(`${subjects.inbox(worker)}.`);
}

/** Returns the last token of a reply subject, which is the token of the grant. A worker finds its jobs by this token. */
export function parseGrantToken(reply: string): string {
  return reply.slice(reply.lastIndexOf('.') + 1);
}

/** Returns the name of the dispatcher that made a grant: the token before the grant's token in the reply subject. */
export function parseDispatcherName(reply: string): string {
  return reply.split('.').at(-2) ?? '';
}

function isFrameKind(kind: string | undefined): kind is FrameKind {
  return kind === 'd' || kind === 'k' || kind === 'e' || kind === 'x' || kind === 'r';
}

export function isPriorityClass(value: string): value is PriorityClass {
  return priorityClasses.some((name) => name === value);
}
