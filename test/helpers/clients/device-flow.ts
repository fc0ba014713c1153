import type { ApiAnswer } from '../console/console-client.ts';
export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/** Sends a form to an endpoint below an address of the router. */
export async function postForm(url: string, fields: Record<string, string> | [string, string][]): Promise<ApiAnswer> {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers };
}

export interface SignedIn {
  accessToken: string;
  refreshToken: string;
}

/** A client of the console's API for the person who decides on the sign-in of a program. */
export interface Approver {
  post: (path: string, body: unknown) => Promise<{ status: number }>;
}

/** Signs a program in, as `rtr login` does. */
export async function signInProgram(url: string, approver: Approver, teamId?: string): Promise<SignedIn> {
  const start = await postForm(`${url}/oauth/device_authorization`, { client_id: 'a test' });
  const decided = { decision: 'approve', ...(teamId !== undefined && { teamId }) };
  const { status } = await approver.post(`/devices/${start.body.user_code}`, decided);
  if (status !== 204) throw new Error(`the sign-in was not approved: ${status}`);
  const fields = { grant_type: deviceGrant, device_code: String(start.body.device_code) };
  const { body } = await postForm(`${url}/oauth/token`, fields);
  return { accessToken: String(body.access_token), refreshToken: String(body.refresh_token) };
}

export function refresh(url: string, refreshToken: string): Promise<ApiAnswer> {
  return postForm(`${url}/oauth/token`, { grant_type: 'refresh_token', refresh_token: refreshToken });
}
