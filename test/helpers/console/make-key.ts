import type { ConsoleClient } from './console-client.ts';

/** Creates a key as a person does in the console, a personal one unless the fields have another kind. */
export async function makeKey(client: ConsoleClient, fields: object = {}): Promise<{ id: string; raw: string }> {
  const { status, body } = await client.post('/keys', { kind: 'user', name: 'a key', ...fields });
  if (status !== 201) throw new Error(`no key: ${JSON.stringify(body)}`);
  return { id: String(body.key.id), raw: String(body.raw) };
}
