import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import * as asn1 from '@peculiar/asn1-x509';
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import type { ServerCertificate } from '#shared/core/tls/tls-folder.ts';

/** Milliseconds for which the certificate is valid: ten years. Its fingerprint in the credentials of boxes is what programs trust. */
const validMs = 10 * 365 * 24 * 3_600_000;

/** Milliseconds for which the certificate is already valid, so that a box accepts it whose clock is behind. */
const validBeforeMs = 24 * 3_600_000;

/** ECDSA with SHA-256 (RFC 5758, section 3.2). */
const signatureType = '1.2.840.10045.4.3.2';
const commonNameType = '2.5.4.3';

/**
 * Makes a self-signed certificate for a server (RFC 5280), with a new key on the curve P-256. It cannot sign other certificates. Boxes
 * compare its fingerprint; other programs that trust it look for their router's name or address in it.
 * @param hosts names and addresses of the server
 */
export function makeCertificate(now: Date, hosts: readonly string[] = ['localhost']): ServerCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signature = new asn1.AlgorithmIdentifier({ algorithm: signatureType });
  const commonName = new asn1.AttributeTypeAndValue({
    type: commonNameType,
    value: new asn1.AttributeValue({ utf8String: 'Model Router' }),
  });
  const name = new asn1.Name([new asn1.RelativeDistinguishedName([commonName])]);
  const basicConstraints = new asn1.Extension({
    extnID: asn1.id_ce_basicConstraints,
    critical: true,
    extnValue: new OctetString(AsnConvert.serialize(new asn1.BasicConstraints())),
  });
  const tbsCertificate = new asn1.TBSCertificate({
    version: asn1.Version.v3,
    serialNumber: createSerialNumber(),
    signature,
    issuer: name,
    subject: name,
    validity: new asn1.Validity({
      notBefore: new Date(now.getTime() - validBeforeMs),
      notAfter: new Date(now.getTime() + validMs),
    }),
    subjectPublicKeyInfo: AsnConvert.parse(
      publicKey.export({ type: 'spki', format: 'der' }),
      asn1.SubjectPublicKeyInfo,
    ),
    extensions: new asn1.Extensions([basicConstraints, nameHosts(hosts)]),
  });
  const signatureValue = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), privateKey);
  const certificate = new asn1.Certificate({
    tbsCertificate,
    signatureAlgorithm: signature,
    signatureValue: toArrayBuffer(signatureValue),
  });
  return {
    cert: formatPem(Buffer.from(AsnConvert.serialize(certificate))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function nameHosts(hosts: readonly string[]): asn1.Extension {
  const names = hosts.map((host) => new asn1.GeneralName(isIP(host) === 0 ? { dNSName: host } : { iPAddress: host }));
  return new asn1.Extension({
    extnID: asn1.id_ce_subjectAltName,
    extnValue: new OctetString(AsnConvert.serialize(new asn1.SubjectAlternativeName(names))),
  });
}

/** Returns a random serial number, whose first bits make it positive, and as long as it is written. */
function createSerialNumber(): ArrayBuffer {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8() & 0x7f) | 0x40);
  return toArrayBuffer(bytes);
}

function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

function formatPem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
