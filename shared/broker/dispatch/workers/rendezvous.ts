import { hash } from 'node:crypto';

/** Computes the `point` of a worker for `computeRendezvousScore`: 32 bits, the same on every dispatcher. */
export function computeRendezvousPoint(workerId: string): number {
  return hash('sha256', workerId, 'buffer').readUInt32LE();
}

/**
 * Scores how well a worker suits a conversation, by weighted rendezvous hashing. Each conversation has its own order of workers. Each
 * worker comes first for a share of conversations in proportion to its weight. If a worker joins or leaves, only its own conversations
 * move.
 * @param affinity the conversation, a number of 32 bits
 */
export function computeRendezvousScore(affinity: number, point: number, weight: number): number {
  // The finalizer of MurmurHash3: each bit of the input changes each bit of the result with a probability of one half.
  let bits = affinity ^ point;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  bits ^= bits >>> 16;
  return weight / -Math.log(((bits >>> 0) + 0.5) / 2 ** 32);
}
