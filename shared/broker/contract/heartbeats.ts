import { createHash } from 'node:crypto';
import { encodeAnnouncement, type Announcement } from './announcement.ts';

/*
 * The message that a worker publishes at `subjects.heartbeat` each second: a short heartbeat of a few bytes. It means that nothing but the
 * busy slots has changed since the last announcement.
 */

/** Minimum milliseconds between two announcements on request. */
export const minAnnounceIntervalMs = 250;
/** The milliseconds over which many workers spread their answers to one request. */
export const announceSpreadMs = 150;

/** Milliseconds within which a worker announces itself on request, even if another dispatcher has requested it just before. */
export const maxAnnounceMs = minAnnounceIntervalMs + announceSpreadMs;

export interface ShortHeartbeat {
  digest: string;
  busy: number;
}

/** The first byte of a short heartbeat, which distinguishes it from an announcement, a JSON object. */
const mark = '~';
const markByte = mark.charCodeAt(0);
const beatPattern = /^~([\w-]{1,24}) (\d{1,9})$/;

export function encodeShortHeartbeat({ digest, busy }: ShortHeartbeat): string {
  return `${mark}${digest} ${busy}`;
}

/** Reads a short heartbeat; undefined for anything else. */
export function decodeShortHeartbeat(payload: Uint8Array): ShortHeartbeat | undefined {
  if (payload[0] !== markByte || payload.length > 40) return undefined;
  const text = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('latin1');
  const [, digest, busy] = beatPattern.exec(text) ?? [];
  return digest === undefined ? undefined : { digest, busy: Number(busy) };
}

export function computeDigest(announcement: Announcement): string {
  const text = encodeAnnouncement({ ...announcement, busy: 0, digest: undefined });
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/** The payload with which a dispatcher requests one worker's announcement at `subjects.retransmit`. */
export const announceAgain = 'announcement';

export type AnnounceRequest =
  /** The worker must announce itself within a moment. */
  | { kind: 'again' }
  /** A worker reports a freed slot after at least `soonMs` milliseconds; large clusters use longer delays. */
  | { kind: 'delay'; soonMs: number };

export function encodeAnnounceRequest(request: AnnounceRequest): string {
  return request.kind === 'delay' ? `delay ${request.soonMs}` : request.kind;
}

/** Returns undefined for a request that only a later release makes. */
export function decodeAnnounceRequest(payload: Uint8Array): AnnounceRequest | undefined {
  const text = Buffer.from(payload).toString('latin1');
  const soonMs = /^delay (\d{1,5})$/.exec(text)?.[1];
  if (soonMs !== undefined) return { kind: 'delay', soonMs: Number(soonMs) };
  return text === 'again' ? { kind: 'again' } : undefined;
}
