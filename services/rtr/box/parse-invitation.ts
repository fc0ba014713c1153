import { BoxError, newLineHint } from './box-error.ts';

/** A one-time right to join, as a person pastes it: `<address>#<secret>` or `<address>#<secret>.<fingerprint>`. */
export interface Invitation {
  /** The router's origin, such as `https://10.0.0.4:8484`. */
  address: string;
  /** 32 random bytes in base64url. */
  secret: string;
  /** SHA-256 of the router's certificate (DER) in base64url; undefined if the certificate is signed by an authority, or there is no TLS. */
  fingerprint: string | undefined;
}

/** The characters of 32 bytes in base64url. */
const tokenPart = /^[\w-]{43}$/;

/** Quotes around a pasted line, also those that chat programs make. */
const quotes = /^["'`“”‘’]+|["'`“”‘’]+$/g;

/**
 * Parses the argument of `rtr join`.
 * @throws BoxError `invalid_invitation` that says what is missing; it never repeats the secret
 */
export function parseInvitation(argument: string): Invitation {
  const line = argument.trim().replaceAll(quotes, '').trim();
  const at = line.indexOf('#');
  if (at < 0)
    throw createError(
      'There is no # in this argument: it is an address without its token. Paste the whole line, in single quotes',
    );
  const address = readAddress(line.slice(0, at));
  const [secret = '', fingerprint, ...rest] = line.slice(at + 1).split('.');
  const isWhole = tokenPart.test(secret) && (fingerprint === undefined || tokenPart.test(fingerprint));
  if (!isWhole || rest.length > 0)
    throw createError('The part behind the # is cut off or damaged. Paste the whole line, in single quotes');
  return { address, secret, fingerprint };
}

function readAddress(text: string): string {
  const url = URL.parse(text);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.host === '')
    throw createError('The part before the # is not the address of a router, such as https://10.0.0.4:8484');
  if (url.username !== '' || url.pathname !== '/' || url.search !== '')
    throw createError('The part before the # must be the address of a router alone, such as https://10.0.0.4:8484');
  return url.origin;
}

function createError(message: string): BoxError {
  return new BoxError('invalid_invitation', `${message}; or ${newLineHint}.`);
}
