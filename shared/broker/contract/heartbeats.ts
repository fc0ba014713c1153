import { createHash } from 'node:crypto';
import { encodeAnnouncement, type Announcement } from './announcement.ts';

/*
 * What a worker publishes at `subjects.heartbeat` each second: its announcement, or a beat where every ingress understands that, which is
 * a few bytes. A beat says that all but the busy slots is as in the last announcement.
 */

/** Milliseconds between two announcements on request, and in which many workers spread their answers to the same one. */
export const againMs = 250;
export const spreadMs = 150;

/** Milliseconds within which a worker has announced itself on request, also when another one has requested it just before. */
export const announcedMs = againMs + spreadMs;

export interface Beat {
  /** Of the last announcement. */
  digest: string;
  /** Slots in use. */
  busy: number;
}

/** How an announcement, a JSON object, differs from a beat: by its first byte. */
const mark = '~';
const markByte = mark.charCodeAt(0);
const beatPattern = /^~([\w-]{1,24}) (\d{1,9})$/;

export function encodeBeat({ digest, busy }: Beat): string {
  return `${mark}${digest} ${busy}`;
}

/** Reads a beat; undefined for anything else. */
export function decodeBeat(payload: Uint8Array): Beat | undefined {
  if (payload[0] !== markByte || payload.length > 40) return undefined;
  const text = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('latin1');
  const [, digest, busy] = beatPattern.exec(text) ?? [];
  return digest === undefined ? undefined : { digest, busy: Number(busy) };
}

/** What identifies all of an announcement but its busy slots. */
export function digestOf(announcement: Announcement): string {
  const text = encodeAnnouncement({ ...announcement, busy: 0, digest: undefined });
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/** The payload with which an ingress has a worker announce itself once more, at `subjects.retransmit`. */
export const announceAgain = 'announcement';

/** What an ingress says to all workers at `subjects.announceRequest`. */
export type AnnounceRequest =
  /** Announce yourself within a moment. */
  | { kind: 'again' }
  /**
   * For the next while every ingress understands beats. A worker that has been full and has a free slot says so after this many
   * milliseconds at the earliest: the more nodes there are, the later.
   */
  | { kind: 'short'; soonMs: number }
  /** From an older release, which understands no beats: announce yourself at once, and each second. */
  | { kind: 'older' };

export function encodeAnnounceRequest(request: Exclude<AnnounceRequest, { kind: 'older' }>): string {
  return request.kind === 'short' ? `short ${request.soonMs}` : request.kind;
}

export function decodeAnnounceRequest(payload: Uint8Array): AnnounceRequest {
  const text = Buffer.from(payload).toString('latin1');
  const soonMs = /^short (\d{1,5})$/.exec(text)?.[1];
  if (soonMs !== undefined) return { kind: 'short', soonMs: Number(soonMs) };
  return { kind: text === 'again' ? 'again' : 'older' };
}
