import { readFileSync } from 'node:fs';
import { ConfigError, readCertificates, setting } from '#shared/core/load-config.ts';
import type { BrokerAccess } from './connection-options.ts';
import { parseCredential, type Credential } from './credential.ts';

export const brokerSettings = {
  NATS_URL: setting.text(
    'Addresses of NATS, separated by commas: `nats://`, `tls://`, or `wss://` through HTTPS',
    'nats://127.0.0.1:4222',
  ),
  RTR_PREFIX: setting.pathSegment(
    'First part of every NATS subject and Redis key, so that clusters can share servers; a credential contains it',
    'rtr',
  ),
  NATS_CREDENTIALS: setting.optionalText('File with the credential for NATS, created by `rtr credentials`'),
  NATS_CA: setting.optionalText(
    "File with CA certificates (PEM) to trust for NATS, in addition to the public ones and the credential's own",
  ),
};

export interface BrokerAccessSettings {
  NATS_URL: string;
  NATS_CREDENTIALS?: string | undefined;
  NATS_CA?: string | undefined;
}

/**
 * Reads the access to NATS from the settings and from the files that they name.
 * @throws ConfigError if a file cannot be read or parsed; it names the setting and the file
 */
export function readBrokerAccess({ NATS_URL: url, NATS_CREDENTIALS, NATS_CA }: BrokerAccessSettings): BrokerAccess {
  return { url, credential: readCredential(NATS_CREDENTIALS), ca: readCertificates('NATS_CA', NATS_CA) };
}

function readCredential(file: string | undefined): Credential | undefined {
  if (file === undefined) return undefined;
  try {
    return parseCredential(readFileSync(file, 'utf8'));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`NATS_CREDENTIALS=${file}: ${reason}`, { cause });
  }
}
