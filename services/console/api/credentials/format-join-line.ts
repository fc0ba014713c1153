import { version } from '#shared/core/version.ts';
import type { CertificateFacts } from '#shared/core/tls/read-certificate-facts.ts';
import { isLoopback } from '#shared/core/own-addresses.ts';
import type { JoinAddress } from './find-join-address.ts';

export interface JoinLine {
  /** The line that a person runs on the machine that joins. */
  command: string;
  /** Why the line may not work, and what to do about it. */
  note: string | undefined;
}

/**
 * Formats the line with which a machine joins. The router itself serves the program. For a certificate that no authority has signed, curl
 * downloads the program, because it can be told the key to trust, and the secret is followed by the fingerprint of the certificate. The file
 * of npx is named after the release, because npx never fetches a file again.
 * @param certificate the certificate of the router; undefined if the router itself does not answer HTTPS
 * @param hasRelay whether the router passes boxes on to NATS
 */
export function formatJoinLine(
  { address, isGuess }: JoinAddress,
  secret: string,
  { certificate, hasRelay }: { certificate: CertificateFacts | undefined; hasRelay: boolean },
): JoinLine {
  const isPlain = address.startsWith('http:');
  const pinned = !isPlain && certificate?.selfSigned === true ? certificate : undefined;
  const program = pinned
    ? `curl -fsSk --pinnedpubkey 'sha256//${pinned.spki}' ${address}/install | sh -s --`
    : `npx --yes ${address}/rtr-${version}.tgz`;
  const token = pinned ? `${secret}.${pinned.fingerprint}` : secret;
  const notes = [
    ...(isLoopback(address)
      ? [`Only this machine reaches ${address}: for others, start the router with rtr up --expose, or set PUBLIC_URL.`]
      : isPlain
        ? [`${address} is not encrypted: start the router with rtr up --expose, or set PUBLIC_URL to an https address.`]
        : []),
    ...(isGuess
      ? [`${address} is where the router's machine sees itself: set PUBLIC_URL if others reach it at another address.`]
      : []),
    ...(hasRelay
      ? []
      : [`The router passes no boxes on to NATS: set NATS_RELAY_URL, unless a proxy passes ${address}/nats on.`]),
  ];
  return { command: `${program} join ${address}#${token}`, note: notes.length === 0 ? undefined : notes.join(' ') };
}
