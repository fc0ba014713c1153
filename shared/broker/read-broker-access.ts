import { readFileSync } from 'node:fs';
import { ConfigError } from '#shared/core/load-config.ts';
import type { BrokerAccess } from './connection-options.ts';
import { parseCredential } from './credential.ts';

/** How settings name the broker and the files that belong to it, see `brokerSettings`. */
export interface BrokerAccessSettings {
  NATS_URL: string;
  NATS_CREDENTIALS?: string | undefined;
  NATS_CA?: string | undefined;
}

/**
 * Reads the files that the settings name.
 * @throws ConfigError that names the setting and the file, when one cannot be read or is not what it should be
 */
export function readBrokerAccess({ NATS_URL: url, NATS_CREDENTIALS, NATS_CA }: BrokerAccessSettings): BrokerAccess {
  return {
    url,
    credential: read('NATS_CREDENTIALS', NATS_CREDENTIALS, parseCredential),
    ca: read('NATS_CA', NATS_CA, checkCertificates),
  };
}

function read<T>(name: string, file: string | undefined, parse: (text: string) => T): T | undefined {
  if (file === undefined) return undefined;
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new ConfigError(`${name}=${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function checkCertificates(text: string): string {
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new ConfigError('there is no certificate in this file');
  return text;
}
