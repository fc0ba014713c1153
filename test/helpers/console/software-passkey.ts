import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { JsonWebKey } from 'node:crypto';

/** A passkey as it can be stored, to use it again later. */
export interface StoredPasskey {
  id: string;
  privateKey: JsonWebKey;
  /** How often it was used. */
  counter: number;
}

/**
 * Makes a passkey for the pages of an origin.
 * @param stored a passkey that was made earlier; default: a new one
 */
export function softwarePasskey(origin: string, stored?: StoredPasskey) {
  const privateKey = stored
    ? createPrivateKey({ key: stored.privateKey, format: 'jwk' })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const { x = '', y = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  // COSE_Key {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y} in CBOR (RFC 9053, section 7.1.1).
  const cose = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ]);
  const id = stored?.id ?? randomBytes(16).toString('base64url');
  let counter = stored?.counter ?? 0;
  /** Returns a browser's description of what a page has asked for. */
  const describe = (type: 'webauthn.create' | 'webauthn.get', challenge: string): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin }));
  /** Returns what the passkey states, with the next count. The flags are those of WebAuthn Level 2, section 6.1. */
  const state = (flags: number, ...credential: Buffer[]): Buffer => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE((counter += 1));
    return Buffer.concat([sha256(new URL(origin).hostname), Buffer.from([flags]), count, ...credential]);
  };
  return {
    /** Returns it as it can be stored. */
    store: (): StoredPasskey => ({ id, privateKey: privateKey.export({ format: 'jwk' }), counter }),
    /** Returns a browser's answer to a request to make it: the person was present, and the new key follows. */
    register: (challenge: string) => {
      const idBytes = Buffer.from(id, 'base64url');
      const data = state(0b1000001, Buffer.alloc(16), Buffer.from([0, idBytes.length]), idBytes, cose);
      // {"fmt": "none", "attStmt": {}, "authData": data} in CBOR, with two bytes for the length of the data.
      const attestation = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'),
        Buffer.from([0x59, data.length >> 8, data.length & 0xff]),
        data,
      ]);
      const response = {
        clientDataJSON: describe('webauthn.create', challenge).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
      };
      return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
    },
    passkey: {
      id,
      name: 'laptop',
      publicKey: cose.toString('base64url'),
      counter,
      transports: [],
      createdAt: Date.now(),
    },
    /** Returns a browser's answer to a challenge. Each answer has a higher counter than the one before. */
    answer: (challenge: string) => {
      const clientData = describe('webauthn.get', challenge);
      // The person was present, and verified.
      const data = state(0b101);
      const signature = sign('sha256', Buffer.concat([data, sha256(clientData)]), privateKey);
      const response = {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
      };
      return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
    },
  };
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}
