import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** Makes a passkey for the pages of an origin. */
export function softwarePasskey(origin: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  // COSE_Key {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y} in CBOR (RFC 9053, section 7.1.1).
  const cose = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ]);
  const id = randomBytes(16).toString('base64url');
  let counter = 0;
  return {
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
      const clientData = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge, origin }));
      const count = Buffer.alloc(4);
      count.writeUInt32BE((counter += 1));
      // The flags state that the person was present, and verified (WebAuthn Level 2, section 6.1).
      const data = Buffer.concat([sha256(new URL(origin).hostname), Buffer.from([0b101]), count]);
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
