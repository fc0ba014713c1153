import { priorityClasses, type Lane, type PriorityClass } from './lane.ts';

/**
 * What a frame on a reply subject is: data, keep-alive, end, error. Data, end and error are numbered from 0 without a
 * gap; a keep-alive carries the number of the next one, so that it shows whether something is missing before it.
 * `t` is the broker's answer to a published ticket, not a worker's frame.
 */
export type FrameKind = 'd' | 'k' | 'e' | 'x' | 't';

/** One reply subject, taken apart. */
export interface FrameAddress {
  job: string;
  attempt: number;
  kind: FrameKind;
  seq: number;
}

/**
 * Every subject the cluster uses, under one prefix, so that tests and clusters can share a NATS server.
 *
 * Tokens are made here or checked by a pattern where they enter (worker ids, pools), so that none can hold `.`, `*` or `>`.
 */
export function createSubjects(prefix: string) {
  return {
    prefix,
    /** The JetStream stream that holds the tickets. */
    stream: `${prefix.replaceAll(/[^\w-]/g, '_')}_JOBS`,
    allJobs: `${prefix}.jobs.>`,
    jobs: (lane: Lane) => `${prefix}.jobs.${lane.tier}.${lane.pool}.${lane.class}`,
    claim: (ingress: string) => `${prefix}.claim.${ingress}`,
    allReplies: (ingress: string) => `${prefix}.reply.${ingress}.>`,
    /** Everything before the frame's kind and number; a grant carries it to the worker. */
    reply: (ingress: string, job: string, attempt: number) => `${prefix}.reply.${ingress}.${job}.${attempt}`,
    cancel: (worker: string) => `${prefix}.cancel.${worker}`,
    /** Asks a worker to send frames again that did not arrive: `<reply subject> <number of the first>`. */
    resume: (worker: string) => `${prefix}.resume.${worker}`,
    beat: (worker: string) => `${prefix}.beat.${worker}`,
    allBeats: `${prefix}.beat.*`,
    /** Asks every worker to beat at once, for an ingress that has just started. */
    rollCall: `${prefix}.roll-call`,
    keys: `${prefix}.keys`,
    prices: `${prefix}.prices`,
  };
}

export type Subjects = ReturnType<typeof createSubjects>;

/** A lane's durable consumer name, unique within the stream. */
export function consumerName(lane: Lane): string {
  return `${lane.tier}_${lane.pool}_${lane.class}`;
}

/** Takes `<job>.<attempt>.<kind>.<seq>` apart, the part of a reply subject after the ingress's own prefix. */
export function parseFrameAddress(rest: string): FrameAddress | undefined {
  const [job, attempt, kind, seq] = rest.split('.');
  if (job === undefined || !isFrameKind(kind)) return undefined;
  return { job, attempt: Number(attempt), kind, seq: Number(seq) };
}

/** The end of a reply subject that names job and attempt: what a worker knows its jobs by. */
export function attemptOf(reply: string): string {
  return reply.split('.').slice(-2).join('.');
}

function isFrameKind(kind: string | undefined): kind is FrameKind {
  return kind === 'd' || kind === 'k' || kind === 'e' || kind === 'x' || kind === 't';
}

export function isPriorityClass(value: string): value is PriorityClass {
  return priorityClasses.some((name) => name === value);
}
