import { createHmac, randomBytes } from 'node:crypto';

const secretBytes = 32;

const secretPrefix = 'whsec_';

export interface SignedMessage {
  /** Id of the message, which is the same in all tries. */
  id: string;
  /** Time of this try, in seconds since 1970. */
  timestamp: number;
  body: string;
}

/** Generates the secret of an endpoint: `whsec_` and base64. */
export function generateWebhookSecret(): string {
  return secretPrefix + randomBytes(secretBytes).toString('base64');
}

/**
 * Returns the value of the header `webhook-signature`. The value has one signature with each secret, so that a receiver with any of the
 * secrets accepts the message. Source: Standard Webhooks 1.0, "Signature scheme", symmetric.
 */
export function signWebhook({ id, timestamp, body }: SignedMessage, secrets: readonly string[]): string {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return signatures.join(' ');
}
