import { createHash, X509Certificate } from 'node:crypto';

/** What programs that are to trust a server's certificate must know of it. */
export interface CertificateFacts {
  /** Whether no authority has signed the certificate, so that a program can trust only the certificate itself. */
  selfSigned: boolean;
  /** SHA-256 of the certificate (DER), in base64url. */
  fingerprint: string;
  /** SHA-256 of the certificate's public key (SPKI in DER), in base64, as `curl --pinnedpubkey` takes it. */
  spki: string;
}

/**
 * Reads the facts of a server's certificate.
 * @param pem the certificate, then any certificates of its authorities
 * @throws an Error of Node if the text holds no certificate
 */
export function readCertificateFacts(pem: string): CertificateFacts {
  const certificate = new X509Certificate(pem);
  const { publicKey, raw } = certificate;
  return {
    selfSigned: certificate.checkIssued(certificate) && certificate.verify(publicKey),
    fingerprint: createHash('sha256').update(raw).digest('base64url'),
    spki: createHash('sha256')
      .update(publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64'),
  };
}
