import type { Broker } from '../connection/connect-broker.ts';
import { bodyPartBytes, encodeClaimAnswer, type ClaimAnswer } from '../contract/claim.ts';

const nothing = new Uint8Array(0);

/** Refuses a claim. */
export function refuseClaim(broker: Broker, to: string, answer: 'gone' | 'taken' | 'later'): void {
  broker.publish(to, encodeClaimAnswer({ answer }, nothing));
}

/**
 * Grants a claim: the answer with the first part of the body, then the other parts to the same subject, in order.
 * Every second part waits for the connection to drain, so that a large body does not stand before other jobs' frames.
 * @param isWanted whether the rest is still to be sent, asked after each such wait
 */
export async function sendGrant(
  broker: Broker,
  to: string,
  grant: ClaimAnswer,
  body: Uint8Array,
  isWanted: () => boolean,
): Promise<void> {
  broker.publish(to, encodeClaimAnswer(grant, body.subarray(0, bodyPartBytes)));
  for (let start = bodyPartBytes, part = 1; start < body.length; start += bodyPartBytes, part += 1) {
    if (part % 2 === 0) {
      await broker.flush();
      if (!isWanted()) return;
    }
    broker.publish(to, body.subarray(start, start + bodyPartBytes));
  }
}
