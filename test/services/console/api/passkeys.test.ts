import { describe, expect, it, vi } from 'vitest';
import { openHouse } from '../../../helpers/console/open-console.ts';
import { softwarePasskey } from '../../../helpers/console/software-passkey.ts';
import { goodPassword } from '../../../helpers/console/good-password.ts';
import { refusal } from '../../../helpers/console/refusals.ts';

/** A console whose first administrator has a passkey, and a browser in which their password was accepted. */
async function openWithPasskey() {
  const { ada, browser, secondFactors } = await openHouse();
  const { passkey, answer } = softwarePasskey('https://llm.example.com');
  await secondFactors.storePasskey(ada.id, passkey);
  const client = browser();
  await client.signIn('ada@example.com', goodPassword);
  const { body } = await client.post('/session/second/passkey');
  const prove = () => client.post('/session/second', { passkey: answer(body.challenge) });
  return { ada, secondFactors, passkey, prove };
}

describe('a sign-in with a passkey', () => {
  it('opens a session, and notes the counter', async () => {
    const { ada, secondFactors, passkey, prove } = await openWithPasskey();
    expect(await prove()).toMatchObject({ status: 200, body: { user: { name: 'Ada' } } });
    expect((await secondFactors.find(ada.id)).passkeys).toEqual([{ ...passkey, counter: 1 }]);
  });

  it('that is removed during its verification fails, and leaves nothing of the passkey', async () => {
    const { ada, secondFactors, passkey, prove } = await openWithPasskey();
    vi.spyOn(secondFactors, 'find').mockImplementationOnce(async (id) => {
      const found = await secondFactors.find(id);
      const removed = await ada.ask('DELETE', `/second-factor/passkeys/${passkey.id}`, { password: goodPassword });
      expect(removed.status).toBe(204);
      return found;
    });
    expect(await prove()).toMatchObject(refusal(401, 'wrong_code'));
    expect((await secondFactors.find(ada.id)).passkeys).toEqual([]);
  });
});
