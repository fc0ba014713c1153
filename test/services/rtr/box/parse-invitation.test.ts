import { describe, expect, it } from 'vitest';
import { parseInvitation } from '#services/rtr/box/parse-invitation.ts';
import { createSecret } from '../../../helpers/box/start-door.ts';

const [secret, fingerprint] = [createSecret(), createSecret()];
const address = 'https://10.0.0.4:8484';

describe('the line of an invitation', () => {
  it('has an address, a secret and, for a certificate of no authority, its fingerprint', () => {
    expect(parseInvitation(`${address}#${secret}.${fingerprint}`)).toEqual({ address, secret, fingerprint });
    expect(parseInvitation(`http://127.0.0.1:8484/#${secret}`)).toEqual({ address: 'http://127.0.0.1:8484', secret });
  });

  it('may have spaces and quotes around it, also those of chat programs', () => {
    for (const pasted of [` ${address}#${secret}\n`, `'${address}#${secret}'`, `“${address}#${secret}”`])
      expect(parseInvitation(pasted)).toEqual({ address, secret });
  });

  it('is refused with a sentence if a part is missing, which never repeats the secret', () => {
    expect(messageFor(address)).toMatch(/There is no #.*whole line/);
    for (const cut of ['', secret.slice(1), `${secret}.`, `${secret}.${fingerprint.slice(2)}`, `${secret}.a.b`])
      expect(messageFor(`${address}#${cut}`)).toMatch(/cut off or damaged/);
    for (const wrong of ['router', 'ftp://router', '', 'https://'])
      expect(messageFor(`${wrong}#${secret}`)).toMatch(/not the address of a router/);
    for (const wrong of [`${address}/console`, 'https://me:pass@router', `${address}/?a=b`])
      expect(messageFor(`${wrong}#${secret}`)).toMatch(/address of a router alone/);
  });
});

function messageFor(line: string): string {
  try {
    parseInvitation(line);
  } catch (error) {
    const message = String(error);
    expect(message).not.toContain(secret);
    return message;
  }
  throw new Error(`${line} is accepted`);
}
