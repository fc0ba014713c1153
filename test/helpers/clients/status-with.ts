/** Returns a router's status for a credential: 200 if it is accepted. */
export async function statusWith(url: string, credential: string): Promise<number> {
  const headers = { authorization: `Bearer ${credential.trim()}` };
  const answer = await fetch(`${url}/api/openai/v1/models`, { headers });
  await answer.body?.cancel();
  return answer.status;
}
