import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** PEM files of an unknown authority, and of a server's certificate that it signed. */
export interface Certificates {
  caFile: string;
  ca: string;
  certFile: string;
  keyFile: string;
}

/** Creates them in a folder, for a server at these addresses. */
export function makeCertificates(folder: string, addresses: readonly string[] = ['127.0.0.1']): Certificates {
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const request = (name: string, subject: string, out: string, ...more: string[]): void =>
    openssl('req', ...newKey, ...more, '-subj', subject, '-keyout', file(`${name}.key`), '-out', file(out));
  request('ca', '/CN=private authority', 'ca.pem', '-x509', '-days', '2');
  request('server', '/CN=server', 'server.csr');
  writeFileSync(
    file('names'),
    `subjectAltName=${addresses.map((address) => `IP:${address}`).join(',')},DNS:localhost\n`,
  );
  const signer = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-days', '2'];
  openssl('x509', '-req', '-in', file('server.csr'), ...signer, '-extfile', file('names'), '-out', file('server.pem'));
  return {
    caFile: file('ca.pem'),
    ca: readFileSync(file('ca.pem'), 'utf8'),
    certFile: file('server.pem'),
    keyFile: file('server.key'),
  };
}
