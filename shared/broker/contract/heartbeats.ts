import { createHash } from 'node:crypto';
import { encodeAnnouncement, type Announcement } from './announcement.ts';

/*
 * A worker publishes a short heartbeat of a few bytes at `subjects.heartbeat` each second. The heartbeat means that nothing but the busy
 * slots has changed since the last announcement.
 */

/** Minimum milliseconds between two announcements on request. */
export const minAnnounceIntervalMs = 250;
/** Maximum milliseconds of the random pause before an announcement on request, so that many workers do not answer at once. */
export const announceSpreadMs = 150;

/** Milliseconds within which a worker announces itself on request, even if it has just answered the request of another dispatcher. */
export const maxAnnounceMs = minAnnounceIntervalMs + announceSpreadMs;

export interface ShortHeartbeat {
  /** The digest of the worker's last announcement. */
  digest: string;
  /** Slots in use. */
  busy: number;
}

/** The first character of a short heartbeat. An announcement, which is a JSON object, begins with `{`. */
const shortHeartbeatMark = '~';
const shortHeartbeatByte = shortHeartbeatMark.charCodeAt(0);
const shortHeartbeatPattern = /^~([\w-]{1,24}) (\d{1,9})$/;

export function encodeShortHeartbeat({ digest, busy }: ShortHeartbeat): string {
  return `${shortHeartbeatMark}${digest} ${busy}`;
}

/** Decodes a short heartbeat; undefined for anything else. */
export function decodeShortHeartbeat(payload: Uint8Array): ShortHeartbeat | undefined {
  if (payload[0] !== shortHeartbeatByte || payload.length > 40) return undefined;
  const text = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('latin1');
  const [, digest, busy] = shortHeartbeatPattern.exec(text) ?? [];
  return digest === undefined ? undefined : { digest, busy: Number(busy) };
}

/** Computes the digest of everything in an announcement but the busy slots and the digest itself. */
export function computeDigest(announcement: Announcement): string {
  const text = encodeAnnouncement({ ...announcement, busy: 0, digest: undefined });
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/** The payload of a message at `subjects.retransmit` by which a dispatcher requests the announcement of one worker. */
export const announceAgainPayload = 'announcement';

/** A message at `subjects.announceRequest` to every worker. */
export type AnnounceRequest =
  /** Each worker must announce itself within a moment. */
  | { kind: 'again' }
  /** From now on, a worker must wait at least `soonMs` milliseconds before it reports a freed slot. Large clusters use longer delays. */
  | { kind: 'delay'; soonMs: number };

export function encodeAnnounceRequest(request: AnnounceRequest): string {
  return request.kind === 'delay' ? `delay ${request.soonMs}` : request.kind;
}

/** Decodes a request; undefined for a kind of request that only a later release makes. */
export function decodeAnnounceRequest(payload: Uint8Array): AnnounceRequest | undefined {
  const text = Buffer.from(payload).toString('latin1');
  const soonMs = /^delay (\d{1,5})$/.exec(text)?.[1];
  if (soonMs !== undefined) return { kind: 'delay', soonMs: Number(soonMs) };
  return text === 'again' ? { kind: 'again' } : undefined;
}
