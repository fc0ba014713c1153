import { priorityClasses, tiers, type Lane, type PriorityClass, type Tier } from './lane.ts';

/** What a frame on a reply subject is. `t` is the broker's answer to a published ticket, not a worker's frame. */
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
    beat: (worker: string) => `${prefix}.beat.${worker}`,
    allBeats: `${prefix}.beat.*`,
    keys: `${prefix}.keys`,
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

function isFrameKind(kind: string | undefined): kind is FrameKind {
  return kind === 'd' || kind === 'k' || kind === 'e' || kind === 'x' || kind === 't';
}

export function isTier(value: string): value is Tier {
  return tiers.some((tier) => tier === value);
}

export function isPriorityClass(value: string): value is PriorityClass {
  return priorityClasses.some((name) => name === value);
}
