import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeCertificate } from '#services/rtr/up/tls/make-certificate.ts';
import { listTlsFiles, TlsFolder } from '#shared/core/tls/tls-folder.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

const [first, second] = [makeCertificate(new Date()), makeCertificate(new Date())];

function write(folder: string, { cert, key }: { cert: string; key: string }): string {
  mkdirSync(folder, { recursive: true });
  const { certFile, keyFile } = listTlsFiles(folder);
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  return folder;
}

it.each([
  ['has no certificate', undefined, /^TLS_FOLDER=.*ENOENT/],
  ['has a text in place of a certificate', { ...first, cert: 'text' }, /^TLS_FOLDER=/],
  ['has the key of another certificate', { ...first, key: second.key }, 'tls.key is not the private key of tls.crt'],
])('a folder that %s is refused', (_, files, message) => {
  const folder = temporaryFolder();
  if (files) write(folder, files);
  expect(() => new TlsFolder(folder)).toThrow(message);
});

it('a renewed certificate is read a minute after the last look, and a faulty one is refused', () => {
  const folder = write(join(temporaryFolder(), 'tls'), first);
  const tls = new TlsFolder(folder);
  const opened = performance.now();
  write(folder, second);
  expect(tls.readRenewed(opened + 1_000)).toBeUndefined();
  expect(tls.readRenewed(opened + 61_000)).toEqual(second);
  expect(tls.readRenewed(opened + 122_000)).toBeUndefined();
  write(folder, { ...second, key: first.key });
  expect(() => tls.readRenewed(opened + 183_000)).toThrow('tls.key is not the private key');
  expect(tls.certificate).toEqual(second);
});
