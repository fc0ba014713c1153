import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readCertificateFacts } from '#shared/core/tls/read-certificate-facts.ts';
import { useFolder } from '../../../helpers/files/temporary-folder.ts';
import { makeCertificates } from '../../../helpers/servers/make-certificates.ts';

describe('the facts of a certificate', { tags: ['openssl'] }, () => {
  const { ca, certFile } = makeCertificates(useFolder());

  it('are the digests that openssl computes', () => {
    const digest = (file: string, ...make: string[]): Buffer =>
      execFileSync('openssl', ['dgst', '-sha256', '-binary'], {
        input: execFileSync('openssl', [...make, '-in', file]),
      });
    const publicKey = execFileSync('openssl', ['x509', '-in', certFile, '-noout', '-pubkey']);
    const spki = execFileSync('openssl', ['pkey', '-pubin', '-outform', 'der'], { input: publicKey });
    const facts = readCertificateFacts(readFileSync(certFile, 'utf8'));
    expect(facts.fingerprint).toBe(digest(certFile, 'x509', '-outform', 'der').toString('base64url'));
    expect(facts.spki).toBe(
      execFileSync('openssl', ['dgst', '-sha256', '-binary'], { input: spki }).toString('base64'),
    );
  });

  it('say whether an authority has signed it', () => {
    expect(readCertificateFacts(ca)).toMatchObject({ selfSigned: true });
    expect(readCertificateFacts(readFileSync(certFile, 'utf8'))).toMatchObject({ selfSigned: false });
  });

  it('are of the first certificate of a chain', () => {
    const server = readFileSync(certFile, 'utf8');
    expect(readCertificateFacts(`${server}\n${ca}`)).toEqual(readCertificateFacts(server));
  });
});
