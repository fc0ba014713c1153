import { priorityClasses, type Lane, type PriorityClass, type Tier } from './lane.ts';
import { addressTokens, type WorkerAddress } from './worker-address.ts';

/**
 * What a frame on a reply subject is: data, keep-alive, end, error, refusal. Data, end and error are numbered from 0
 * without a gap; a keep-alive carries the number of the next one, so that it shows whether something is missing before
 * it. A refusal, by the worker or by a broker that finds no worker, says that an offered job was not begun.
 */
export type FrameKind = 'd' | 'k' | 'e' | 'x' | 'r';

/** One reply subject, taken apart. */
export interface FrameAddress {
  /** The token that the grant carried: only the worker that got it can know it. */
  grant: string;
  kind: FrameKind;
  seq: number;
}

/**
 * Every subject the cluster uses, under one prefix, so that tests and clusters can share a NATS server.
 *
 * What a worker says or hears by itself has its address in the subject (`<tier>.<owner>.<worker>`), which the broker
 * checks against its credential: receivers believe the subject, never the message alone. Tokens are made here or checked
 * by a pattern where they enter (worker ids, owners, pools), so that none can hold `.`, `*` or `>`.
 */
export function createSubjects(prefix: string) {
  return {
    prefix,
    /** The JetStream stream that holds a tier's tickets. */
    stream: (tier: Tier) => `${prefix}_JOBS_${tier}`,
    jobsOf: (tier: Tier) => `${prefix}.jobs.${tier}.>`,
    jobs: (lane: Lane) => `${prefix}.jobs.${lane.tier}.${lane.pool}.${lane.class}`,
    /** Where the broker answers an ingress's tickets; workers never see the ingress's secret. */
    stored: (secret: string, job: string, ticket: number) => `${prefix}.stored.${secret}.${job}.${ticket}`,
    allStored: (secret: string) => `${prefix}.stored.${secret}.*.*`,
    /** A worker asks for the queues of its pool to be made, because it cannot read them. */
    lanes: (worker: WorkerAddress) => `${prefix}.lanes.${addressTokens(worker)}`,
    allLanes: `${prefix}.lanes.*.*.*`,
    /** A worker wants tickets of a lane, of the ingress that has told it that there is one. */
    pull: (ingress: string, worker: WorkerAddress) => `${prefix}.pull.${ingress}.${addressTokens(worker)}`,
    allPulls: (ingress: string) => `${prefix}.pull.${ingress}.*.*.*`,
    /** A worker says what becomes of a ticket that it did not claim. */
    ack: (ingress: string, worker: WorkerAddress) => `${prefix}.ack.${ingress}.${addressTokens(worker)}`,
    allAcks: (ingress: string) => `${prefix}.ack.${ingress}.*.*.*`,
    claim: (ingress: string, worker: WorkerAddress) => `${prefix}.claim.${ingress}.${addressTokens(worker)}`,
    allClaims: (ingress: string) => `${prefix}.claim.${ingress}.*.*.*`,
    /** Its wildcards stand for grant, kind and number. */
    allReplies: (ingress: string) => `${prefix}.reply.${ingress}.*.*.*`,
    /** Everything before the frame's kind and number; a grant carries it to the worker. */
    reply: (ingress: string, grant: string) => `${prefix}.reply.${ingress}.${grant}`,
    cancel: (worker: WorkerAddress) => `${prefix}.cancel.${addressTokens(worker)}`,
    /** Asks a worker to send frames again that did not arrive: `<reply subject> <number of the first>`. */
    retransmit: (worker: WorkerAddress) => `${prefix}.retransmit.${addressTokens(worker)}`,
    /** An operator asks a worker to take nothing new, `drain`, until told to `undrain`. */
    drain: (worker: WorkerAddress) => `${prefix}.drain.${addressTokens(worker)}`,
    /** Where a worker is answered, whatever it asks. */
    inbox: (worker: WorkerAddress) => `${prefix}.inbox.${addressTokens(worker)}`,
    allInboxes: `${prefix}.inbox.`,
    heartbeat: (worker: WorkerAddress) => `${prefix}.heartbeat.${addressTokens(worker)}`,
    allHeartbeats: `${prefix}.heartbeat.*.*.*`,
    /** Asks every worker to announce itself at once, for an ingress that has just started. */
    announceRequest: `${prefix}.announce`,
    keys: `${prefix}.keys`,
    prices: `${prefix}.prices`,
    /** What an ingress has counted lately, every second. */
    ingressStats: (ingress: string) => `${prefix}.ingress-stats.${ingress}`,
    allIngressStats: `${prefix}.ingress-stats.*`,
  };
}

export type Subjects = ReturnType<typeof createSubjects>;

/** A lane's durable consumer name, unique within its tier's stream. */
export function consumerName(lane: Pick<Lane, 'pool' | 'class'>): string {
  return `${lane.pool}_${lane.class}`;
}

/** Takes `<grant>.<kind>.<seq>` apart, the part of a reply subject after the ingress's own prefix. */
export function parseFrameAddress(rest: string): FrameAddress | undefined {
  const [grant, kind, seq] = rest.split('.');
  if (grant === undefined || !isFrameKind(kind)) return undefined;
  return { grant, kind, seq: Number(seq) };
}

/**
 * Whether a subject that a worker wants to be answered at is its own. The broker lets it name any, and an ingress may
 * publish where a worker may not.
 */
export function isInboxOf(subjects: Subjects, worker: WorkerAddress | undefined, replyTo: string): boolean {
  return worker !== undefined && replyTo.startsWith(`${subjects.inbox(worker)}.`);
}

/** The end of a reply subject, which names the grant: what a worker knows its jobs by. */
export function grantOf(reply: string): string {
  return reply.slice(reply.lastIndexOf('.') + 1);
}

function isFrameKind(kind: string | undefined): kind is FrameKind {
  return kind === 'd' || kind === 'k' || kind === 'e' || kind === 'x' || kind === 'r';
}

export function isPriorityClass(value: string): value is PriorityClass {
  return priorityClasses.some((name) => name === value);
}
