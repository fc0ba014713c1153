import { existsSync, mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { listExternalAddresses } from '#shared/core/own-addresses.ts';
import { replaceFile } from '#shared/core/replace-file.ts';
import { listTlsFiles } from '#shared/core/tls/tls-folder.ts';

/**
 * Makes a self-signed certificate in a folder that has none, for the names and addresses that this machine has now. An existing one
 * stays, because boxes trust it alone.
 * @throws the system's error if the folder cannot be written
 */
export async function prepareTlsFolder(folder: string, now: Date): Promise<void> {
  const { certFile, keyFile } = listTlsFiles(folder);
  if (existsSync(certFile)) return;
  // Most starts need no certificate, and this takes a tenth of a second to load.
  const { makeCertificate } = await import('./make-certificate.ts');
  const hosts = [hostname(), 'localhost', '127.0.0.1', '::1', ...listExternalAddresses()];
  const { cert, key } = makeCertificate(now, hosts);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // The certificate comes last, so that one without its key is never found.
  replaceFile(keyFile, key);
  replaceFile(certFile, cert);
}
