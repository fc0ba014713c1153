import { hash } from 'node:crypto';

/** A worker's number of 32 bits for `rendezvousScore`, the same on every ingress. */
export function rendezvousPoint(workerId: string): number {
  return hash('sha256', workerId, 'buffer').readUInt32LE();
}

/**
 * How well a worker suits a conversation, by weighted rendezvous hashing: each conversation has an order of workers of its own,
 * in which each stands first for a share of them as large as its weight. When one comes or goes, only its own conversations move.
 * @param affinity the conversation, a number of 32 bits
 */
export function rendezvousScore(affinity: number, point: number, weight: number): number {
  // The finalizer of MurmurHash3: each bit of the input changes each bit of the result with a probability of one half.
  let bits = affinity ^ point;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  bits ^= bits >>> 16;
  return weight / -Math.log(((bits >>> 0) + 0.5) / 2 ** 32);
}
