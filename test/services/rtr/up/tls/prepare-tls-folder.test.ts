import { X509Certificate } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { prepareTlsFolder } from '#services/rtr/up/tls/prepare-tls-folder.ts';
import { readCertificateFacts } from '#shared/core/tls/read-certificate-facts.ts';
import { listTlsFiles, TlsFolder } from '#shared/core/tls/tls-folder.ts';
import { temporaryFolder } from '../../../../helpers/files/temporary-folder.ts';

const now = new Date('2026-12-01T12:00:00Z');

it('a router without a certificate makes a self-signed one, which later starts keep', async () => {
  const folder = join(temporaryFolder(), 'tls');
  await prepareTlsFolder(folder, now);
  const { cert, key } = new TlsFolder(folder).certificate;
  expect(readCertificateFacts(cert).selfSigned).toBe(true);
  const certificate = new X509Certificate(cert);
  expect(certificate.ca).toBe(false);
  expect([certificate.validFromDate, certificate.validToDate]).toEqual([
    new Date('2026-11-30T12:00:00Z'),
    new Date('2036-11-28T12:00:00Z'),
  ]);
  expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  const { keyFile, certFile } = listTlsFiles(folder);
  expect([statSync(folder).mode & 0o777, statSync(keyFile).mode & 0o777]).toEqual([0o700, 0o600]);
  await prepareTlsFolder(folder, new Date());
  expect(readFileSync(keyFile, 'utf8')).toBe(key);
  // As after a start that was killed midway.
  rmSync(certFile);
  await prepareTlsFolder(folder, now);
  expect(new TlsFolder(folder).certificate.key).not.toBe(key);
});
