import { expect, it } from 'vitest';
import { discover } from '#services/rtr/client/lib/discover.mjs';
import { beginSignIn, requestTokens } from '#services/rtr/client/lib/router-api.mjs';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';

/** Starts a server with metadata that no router would send. */
async function startHostile(answerOf: (origin: string) => object): Promise<string> {
  const origin: string = await serveInTest((_, response) => response.end(JSON.stringify(answerOf(origin))));
  return origin;
}

function endpoints(issuer: string) {
  const device = `${issuer}/oauth/device_authorization`;
  return { issuer, device_authorization_endpoint: device, token_endpoint: `${issuer}/oauth/token` };
}

const foundAt = (router: string) => {
  return { device: `${router}/d`, token: `${router}/t`, revocation: undefined, apis: {}, router };
};

it('the client does not sign in to a router whose endpoints or issuer are at another origin', async () => {
  for (const name of ['issuer', 'device_authorization_endpoint', 'token_endpoint'])
    for (const other of ['https://evil.example/x', '@evil.example/x', '0.evil.example/x']) {
      const at = (origin: string) => (other.startsWith('https') ? other : `${origin}${other}`);
      const url = await startHostile((origin) => ({ ...endpoints(origin), [name]: at(origin) }));
      await expect(discover(url)).rejects.toThrow('says that it has another address');
    }
});

it('the client sends a token to no API at another origin', async () => {
  const others = { openai: '@evil.example/api', anthropic: '0.evil.example/api', own: '/api' };
  const url = await startHostile((origin) => {
    const apis = Object.entries(others).map(([name, end]) => [name, `${origin}${end}`]);
    return { ...endpoints(origin), model_router_apis: Object.fromEntries(apis) };
  });
  expect((await discover(url)).apis).toEqual({ own: `${url}/api` });
});

it('the client removes a hidden line break from an address, and accepts no API with a password, a query or a fragment', async () => {
  const url = await startHostile((origin) => ({
    ...endpoints(origin),
    token_endpoint: `${origin}/oauth\n/token`,
    model_router_apis: {
      openai: `${origin}/api\nimport('node:child_process')\r\n//"'/`,
      password: `${origin.replace('//', '//ada:secret@')}/api`,
      query: `${origin}/api?x=`,
      fragment: `${origin}/api#`,
      number: 7,
    },
  }));
  const { token, apis } = await discover(url);
  expect(token).toBe(`${url}/oauth/token`);
  expect(apis).toEqual({ openai: `${url}/apiimport('node:child_process')//%22'` });
});

it('the client shows and opens only a page of the router itself', async () => {
  const start = { device_code: 'x', user_code: 'ABCD-EFGH', expires_in: 600, interval: 2 };
  const begun = async (pages: (origin: string) => object) => {
    const url = await startHostile((origin) => ({ ...start, ...pages(origin) }));
    return { url, ...(await beginSignIn(foundAt(url), 'a test')) };
  };
  const page = (origin: string) => ({ verification_uri: `${origin}/device` });
  const code = '/device?code=ABCD-EFGH';
  const whole = await begun((origin) => ({ ...page(origin), verification_uri_complete: `${origin}${code}` }));
  expect(whole.completePage).toBe(`${whole.url}${code}`);
  for (const other of ['https://evil.example/device', 'file:///etc/passwd', 'calculator:', '--help', 7]) {
    const own = await begun((origin) => ({ ...page(origin), verification_uri_complete: other }));
    expect(own.completePage).toBe(`${own.url}/device`);
    await expect(begun(() => ({ verification_uri: String(other) }))).rejects.toThrow('is at another address');
  }
});

it('the client shows the address of the account in one line, and stores only valid tokens', async () => {
  const tokens = { access_token: 'rtr_a', refresh_token: 'rtr_r', expires_in: 900 };
  const claimed = async (answer: object) => {
    const url = await startHostile(() => ({ ...tokens, ...answer }));
    return requestTokens(foundAt(url), { name: 'a test', deviceCode: 'x' });
  };
  const shown = { accessToken: 'rtr_a', email: 'ada@[2Jexample .com' };
  expect(await claimed({ email: 'ada@\u001B[2J\u202Eexample\r\n.com\u0007' })).toMatchObject(shown);
  for (const token of ['', 'a b', 'rtr_a\nrm', '\u001B[2J', 'ä'])
    for (const answer of [{ access_token: token }, { refresh_token: token }])
      await expect(claimed(answer)).rejects.toThrow('The router did not send tokens');
});

it("a router's text moves no cursor, and cannot make the client poll without a pause", async () => {
  const start = { device_code: 'x', user_code: '\u001B[2JABCD-EFGH', interval: 0, expires_in: 1e9 };
  const page = '/\u001B]0;title\u0007device';
  const url = await startHostile((origin) => ({ ...start, verification_uri: `${origin}${page}` }));
  const shown = { userCode: '[2JABCD-EFGH', page: `${url}/%1B]0;title%07device` };
  const begun = { ...shown, intervalMs: 5_000, expiresMs: 3_600_000 };
  expect(await beginSignIn(foundAt(url), 'a test')).toMatchObject(begun);
});
