import { post } from '../clients/keyed-requests.ts';

/** A router's address and a key, such as those of a cluster. */
export interface Asked {
  url: string;
  key: string;
}

/** Sends a chat request, by default for the model `demo`, and reads its answer, which is returned for its status and headers. */
export async function askChat(
  { url, key }: Asked,
  content = 'Hello!',
  fields: object = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const answer = await post({
    url,
    key,
    body: { model: 'demo', messages: [{ role: 'user', content }], ...fields },
    headers,
  });
  await answer.text();
  return answer;
}
