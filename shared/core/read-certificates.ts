import { readFileSync } from 'node:fs';
import { ConfigError } from './load-config.ts';

/**
 * Reads the certificates (PEM) from the file that a setting names.
 * @param name the variable's name
 * @throws ConfigError that names variable and file, if the file cannot be read or holds no certificate
 */
export function readCertificates(name: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${name}=${file} cannot be read: ${String(cause)}`, { cause });
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new ConfigError(`${name}=${file} holds no certificate`);
  return text;
}
