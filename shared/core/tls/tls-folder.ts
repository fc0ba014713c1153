import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../load-config.ts';

/** A server's certificate with its chain, and the private key, in PEM. */
export interface ServerCertificate {
  cert: string;
  key: string;
}

/** Milliseconds between two looks for a renewed certificate. */
const checkMs = 60_000;

/** Returns the files of a folder with a certificate, which have the names of the entries of a Kubernetes secret. */
export function listTlsFiles(folder: string): { certFile: string; keyFile: string } {
  return { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
}

/** The certificate of `TLS_FOLDER`, which may be renewed at any time. */
export class TlsFolder {
  readonly #folder: string;
  #certificate: ServerCertificate;
  #checkedAt = performance.now();

  /** @throws ConfigError if a file cannot be read, or the key is not that of the certificate */
  constructor(folder: string) {
    this.#folder = folder;
    this.#certificate = readTlsFolder(folder);
  }

  get certificate(): ServerCertificate {
    return this.#certificate;
  }

  /**
   * Returns the certificate if it was renewed since the last look; undefined if it was not, or if that look was less than a minute ago.
   * @param now milliseconds of `performance.now()`
   * @throws ConfigError as the constructor does; the certificate in use stays
   */
  readRenewed(now: number): ServerCertificate | undefined {
    if (now < this.#checkedAt + checkMs) return undefined;
    this.#checkedAt = now;
    const read = readTlsFolder(this.#folder);
    if (read.cert === this.#certificate.cert && read.key === this.#certificate.key) return undefined;
    this.#certificate = read;
    return read;
  }
}

function readTlsFolder(folder: string): ServerCertificate {
  const { certFile, keyFile } = listTlsFiles(folder);
  try {
    const [cert, key] = [readFileSync(certFile, 'utf8'), readFileSync(keyFile, 'utf8')];
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`TLS_FOLDER=${folder}: ${reason}`, { cause });
  }
  throw new ConfigError(`TLS_FOLDER=${folder}: tls.key is not the private key of tls.crt`);
}
